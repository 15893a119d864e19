// Who reads the log of a server must not be able to do what its clients can.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { secretToken } from "./support/identity-provider.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";

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
