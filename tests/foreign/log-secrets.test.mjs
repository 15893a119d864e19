// Who reads the log of a server, an error or a report must not be able to do what its clients can.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { secretToken } from "./support/identity-provider.mjs";
import { Server, plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const SECRET = "s3cr3t of the server";

/** A stream's name, signed as Rails does it: the name, and its signature. */
function sign(name) {
  const encoded = Buffer.from(JSON.stringify(name)).toString("base64");
  const signature = createHmac("sha256", SECRET).update(encoded).digest("hex");
  return { signed: `${encoded}--${signature}`, signature };
}

test("no line of the log has a signature, a token, a cookie or a secret", async (t) => {
  const app = await GrpcApp.start({});
  const flags = ["--log_level", "trace", "--secret", SECRET, "--turbo_streams", "--admin_secret", "a secret of 16 letters"];
  const server = await Server.start("--rpc_host", app.host, ...flags);
  t.after(() => server.stop());
  t.after(() => app.kill());
  const [good, bad] = [await secretToken(SECRET), await secretToken("of somebody else")];
  const { signed, signature } = sign("chat/1");
  const identifier = JSON.stringify({ channel: "$pubsub", signed_stream_name: signed });
  const forged = JSON.stringify({ channel: "Turbo::StreamsChannel", signed_stream_name: `x${signed}` });
  const headers = { Cookie: "session=c00kie-value", Authorization: "Bearer b3arer-value" };

  const client = await CableClient.subscribed(server.ws(`/cable?jid=${good}`), identifier, { headers });
  t.after(() => client.close());
  for (const command of ["subscribe", "unsubscribe", "unsubscribe", "message", "whisper", "history"]) {
    client.send({ command, identifier, data: "{}", history: { since: 1 } });
  }
  await client.subscribe(forged);
  client.send({ command: "ping" });
  while ((await client.frames.next()) !== '{"type":"pong"}');
  const refused = await CableClient.connect(server.ws(`/cable?jid=${bad}`), { headers });
  await refused.closed;
  await fetch(server.http("/admin/state.json"), { headers: { Authorization: "Bearer gu3ss-value" } });

  const lines = [/A repeated subscription is ignored/, /A command without a subscription is ignored/, /A subscription is rejected/, /Refused a client/];
  for (const line of lines) await eventually(() => line.test(server.stderr), `${line} in the log`);
  const secrets = [signature, good, good.split(".")[2], bad.split(".")[2], "c00kie-value", "b3arer-value", "gu3ss-value", SECRET];
  for (const secret of secrets) assert.ok(!server.stderr.includes(secret), `${secret} in ${server.stderr}`);
});

for (const [flags, hidden] of [
  [["--redis_url", "redis://kay:pa/ss@w0rd@h:x"], ["pa/ss", "w0rd"]],
  [["--rpc_host", "grpc-list://a:1,kay:w0rd@b"], ["w0rd"]],
  [["--rpc_host", "http://kay:pa/w0rd@b"], ["w0rd"]],
  [["--jwt_jwks", "https://kay:w0rd@b/jwks"], ["w0rd"]],
  [["--jwt_jwks", "htps://kay:w0rd@b/jwks"], ["w0rd"]],
]) {
  test(`plimsoll serve ${flags.join(" ")} does not repeat the password`, async () => {
    const { code, stderr } = await plimsoll("serve", "--port", "0", ...flags);
    assert.notEqual(code, 0);
    for (const word of hidden) assert.ok(!stderr.includes(word), stderr);
    assert.match(stderr, /\*\*\*@|before the @/);
  });
}

const TYPE = ["--server-type", "actioncable"];

for (const [command, shown] of [
  [["bench", "broadcast", "ws://host:99999/cable?jid=w0rd", ...TYPE], /"ws:\/\/host:99999\/cable\?jid=\*\*\*" has the port "99999"/],
  [["bench", "connect", "ws://kay:w0rd@host/cable?jid=w0rd&room=1", ...TYPE], /"ws:\/\/\*\*\*@host\/cable\?jid=\*\*\*&room=1" has a user/],
  [["bench", "echo", "ws://host/#/?token=w0rd", "--server-type", "echo"], /"ws:\/\/host\/#\/\?token=\*\*\*" has a fragment/],
  [["bench", "recover", "wss//host?x-auth=w0rd"], /"wss\/\/host\?x-auth=\*\*\*" has no scheme/],
  [["bench", "broadcast", "ws://host/", "ws://host:x/?token=w0rd", ...TYPE], /"ws:\/\/host:x\/\?token=\*\*\*"/],
  [["bench", "http", "http://host:99999/?access_token=w0rd&author=kay"], /"http:\/\/host:99999\/\?access_token=\*\*\*&author=kay": invalid port/],
  [["bench", "ws://host/?token=w0rd"], /'ws:\/\/host\/\?token=\*\*\*'/],
  [["quick", "wss//x?token=w0rd"], /'wss\/\/x\?token=\*\*\*'/],
  [["quick", "ws://kay:w0rd@host:x?token=w0rd"], /'ws:\/\/\*\*\*@host:x\?token=\*\*\*'/],
  [["line", "bench", "echo", "ws://host:99999/?token=w0rd", "--server-type", "echo"], /"ws:\/\/host:99999\/\?token=\*\*\*"/],
  [["probe", "ws://host:99999/cable?jid=w0rd"], /"ws:\/\/host:99999\/cable\?jid=\*\*\*"/],
  [["run", "https://host:99999/x.js?token=w0rd"], /\?token=\*\*\*/],
  [["check", "https://host:99999/x.js?token=w0rd"], /\?token=\*\*\*/],
  [["report", "https://host/x.json?token=w0rd"], /\?token=\*\*\*/],
  [["doctor", "--", "--redis_url", "redis://a:1,redis://:w0rd@b:x"], /redis:\/\/\*\*\*@b:x/],
  [["serve", "--presence_webhook", "host?token=w0rd"], /"host\?token=\*\*\*"/],
  [["conform", "websocket", "ws://host:99999/?token=w0rd"], /"ws:\/\/host:99999\/\?token=\*\*\*"/],
]) {
  test(`plimsoll ${command.join(" ")} names the URL without its secrets`, async () => {
    const { code, stdout, stderr } = await plimsoll(...command);
    const all = stdout + stderr;
    assert.notEqual(code, 0, all);
    assert.ok(!all.includes("w0rd"), all);
    // Long lines are wrapped.
    assert.match(all.replaceAll(/\s+/g, " "), shown);
  });
}

const SIZES = ["--step-size", "2", "--total-steps", "1", "--sample-size", "2"];

for (const [name, command, shown] of [
  ["bench broadcast", (at) => ["bench", "broadcast", at.ws("/cable?jid=w0rd&room=1"), ...TYPE, ...SIZES], "/cable?jid=***&room=1"],
  ["bench connect", (at) => ["bench", "connect", at.ws("/cable?jid=w0rd"), ...TYPE, "--step-size", "2", "--total-steps", "1"], "/cable?jid=***"],
  ["bench http", (at) => ["bench", "http", at.http("/health?token=w0rd&author=kay"), "-n", "5"], "/health?token=***&author=kay"],
  ["quick", (at) => ["quick", at.http("/health?token=w0rd"), "-c", "1", "-n", "1"], "/health?token=***"],
  ["a series", (at) => ["bench", "http", at.http("/health?token=w0rd"), "-n", "5", "--against", at.http("/health?token=w0rd&author=kay")],
    "/health?token=***&author=kay"],
]) {
  test(`reports and kept runs of ${name} show no token`, async (t) => {
    const server = await Server.start("--app", "benchmark");
    t.after(() => server.stop());
    const cwd = folderOf(t, {});
    const plimsollHere = (...args) => plimsollIn({ cwd, env: { PLIMSOLL_DATA_DIR: `${cwd}/data` } }, ...args);
    const reports = ["a.json", "a.html", "a.md"];
    const run = await plimsollHere(...command(server), ...(name === "a series" ? ["--repeat", "2"] : []), ...reports.flatMap((file) => ["--report", file]));
    const texts = [`${run.stdout}${run.stderr}`, ...reports.map((file) => readFileSync(join(cwd, file), "utf8"))];
    for (const args of [["list", "--format", "json"], ["show"], ["show", "--format", "json"], ["export", "latest"]]) {
      const { code, stdout, stderr } = await plimsollHere("runs", ...args);
      assert.equal(code, 0, stderr);
      texts.push(stdout);
    }
    for (const text of texts) assert.ok(!text.includes("w0rd"), text);
    assert.ok(texts.some((text) => text.includes(shown)), texts[0]);
  });
}

for (const [flags, shown] of [
  [["--redis_url", "redis://:w0rd@a:1,b:2"], "redis://***@a:1,b:2"],
  [["--redis_url", "redis://:w0rd@a:1,redis://:w0rd@b:2"], "redis://***@a:1,redis://***@b:2"],
  [["--redis_sentinels", "10.0.0.1,:w0rd@10.0.0.2:26380", "--redis_url", "redis://group"], "10.0.0.1,***@10.0.0.2:26380"],
  [["--nats_servers", "nats://kay:w0rd@a:1,nats://w0rd@b:2,nats://c:3"], "nats://***@a:1,nats://***@b:2,nats://c:3"],
]) {
  test(`plimsoll serve ${flags.join(" ")} --print-config shows all hosts`, async () => {
    const { code, stdout, stderr } = await plimsoll("serve", ...flags, "--print-config");
    assert.equal(code, 0, stderr);
    assert.ok(!stdout.includes("w0rd"), stdout);
    assert.ok(stdout.includes(`"${shown}"`), stdout);
  });
}
