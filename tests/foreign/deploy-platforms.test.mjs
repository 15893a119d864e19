// What `deploy/` has for Fly.io, Heroku and Kamal: files that parse, servers that take their settings, ports and paths that fit
// together, and platforms that wait until a server has stopped.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { deployPath, needed, readDeploy, readYaml, seconds, setting, settingsOf } from "./support/deployment.mjs";
import { ENVIRONMENT, PROGRAM } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** What each platform's secrets are. */
const SECRETS = { PLIMSOLL_SECRET: "s", PLIMSOLL_RPC_HOST: "http://app.example/_anycable" };
const REDIS_URL = "redis://:s@redis.example:6379";

/** Node.js reads no TOML, Python does. */
function readToml(...names) {
  const program = "import json, sys, tomllib; json.dump(tomllib.load(sys.stdin.buffer), sys.stdout)";
  return JSON.parse(execFileSync("/usr/bin/python3", ["-c", program], { input: readDeploy(...names) }));
}

/** The words of the image without its program. */
const imageWords = () => JSON.parse(/^CMD (\[.*\])$/m.exec(readDeploy("Dockerfile"))[1]);

const asTexts = (variables) => Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]));

function assertShared(settings) {
  assert.equal(setting(settings, "broker", "adapter"), "redis");
  assert.match(settings, /^broadcast_adapters = \["http"\]/m);
  assert.match(settings, /^allowed_origins = \["app.example.com"\]/m);
  assert.equal(setting(settings, "server", "host"), "0.0.0.0");
}

describe("Fly.io", () => {
  const config = readToml("fly", "fly.toml");

  test("starts machines with settings that they take, asks them where they answer, and waits for their end", async () => {
    // Fly sets the name of the application, of which the program warns unless it is reachable.
    const env = { ...config.env, ...SECRETS, PLIMSOLL_REDIS_URL: REDIS_URL, FLY_APP_NAME: config.app };
    const settings = await settingsOf([...imageWords(), "--ignore-config-path"], env);
    assertShared(settings);
    const { http_service: service, metrics } = config;
    assert.equal(String(service.internal_port), setting(settings, "server", "port"));
    assert.deepEqual([String(metrics.port), metrics.path], ["port", "http_path"].map((key) => setting(settings, "metrics", key)));
    const [check] = service.checks;
    assert.equal(check.path, setting(settings, "server", "ready_path"));
    assert.ok(seconds(settings, "shutdown_delay") >= 2 * parseInt(check.interval), "the proxy notices that a server stops");
    assert.ok(config.kill_timeout > needed(settings), `${config.kill_timeout}`);
    assert.equal(config.kill_signal, "SIGTERM");
    assert.deepEqual([service.auto_stop_machines, service.concurrency.type], [false, "connections"]);
  });
});

describe("Heroku", () => {
  const app = JSON.parse(readDeploy("heroku", "app.json"));
  const { dependencies } = JSON.parse(readDeploy("heroku", "package.json"));
  const [, command] = /^web: (.+)\n$/.exec(readDeploy("heroku", "Procfile"));
  const [, shell, path, words] = /^(exec )?(\S+) (.+)$/.exec(command);
  const values = Object.entries(app.env).map(([name, { value, required }]) => {
    assert.equal(value === undefined, required === true, name);
    return [name, value];
  });
  /** What the platform, the add-on and the operator set. */
  const env = {
    ...Object.fromEntries(values.filter(([, value]) => value !== undefined)),
    ...SECRETS,
    PLIMSOLL_ALLOWED_ORIGINS: "app.example.com",
    PORT: "4711",
    REDIS_URL,
  };

  test("starts the program of an npm package that cargo xtask dist makes", () => {
    const [, version] = /^version = "(.+)"$/m.exec(readFileSync(deployPath("..", "Cargo.toml"), "utf8"));
    const { name } = JSON.parse(readDeploy("packages", "npm", "platform", "package.json").replaceAll("{{node}}", "x64"));
    assert.deepEqual(dependencies, { [name]: `file:${name}-${version}.tgz` });
    assert.equal(path, `node_modules/${name}/bin/plimsoll`);
    // Heroku sends its signal to all processes of a dyno, and two of them would end the server at once.
    assert.equal(shell, "exec ", "no shell stays between the platform and the program");
  });

  test("starts dynos with settings that they take, on their port, and ends within the platform's 30 seconds", async () => {
    for (const [name] of values) assert.ok(name in env, name);
    const settings = await settingsOf([...words.split(" "), "--ignore-config-path"], env);
    assertShared(settings);
    assert.equal(setting(settings, "server", "port"), env.PORT);
    // The add-on's variable; the password is not shown.
    assert.match(settings, /url = "redis:\/\/\*{3}@redis.example:6379" {2}# REDIS_URL$/m);
    assert.ok(needed(settings) < 30, `${needed(settings)}`);
  });

  test("the program hears the platform's signal, once", async (t) => {
    const cwd = folderOf(t, {});
    mkdirSync(join(cwd, dirname(path)), { recursive: true });
    symlinkSync(PROGRAM, join(cwd, path));
    // Without Redis, on a port that is free.
    const variables = { ...ENVIRONMENT, ...env, PORT: "0", PLIMSOLL_BROKER: "memory", REDIS_URL: "" };
    const dyno = spawn("bash", ["-c", `${command} --announce`], { cwd, env: variables, stdio: ["ignore", "pipe", "ignore"] });
    t.after(() => dyno.kill("SIGKILL"));
    const [line] = await within(once(createInterface({ input: dyno.stdout }), "line"), "the server's announcement");
    assert.equal(JSON.parse(line).pid, dyno.pid);
    dyno.kill("SIGTERM");
    assert.deepEqual(await within(once(dyno, "exit"), "the end of the server"), [0, null]);
  });
});

describe("Kamal", () => {
  const { servers, proxy, env: appEnv, accessories } = readYaml("kamal", "config", "deploy.yml");
  const { cable, redis } = accessories;
  const { host: cableHost } = cable.proxy;

  test("starts servers with settings that they take, asks them where they answer, and waits for their end", async () => {
    const secrets = { PLIMSOLL_SECRET: "s", PLIMSOLL_REDIS_URL: REDIS_URL };
    assert.deepEqual(cable.env.secret.map((name) => name.split(":")[0]), Object.keys(secrets));
    const settings = await settingsOf([...imageWords(), "--ignore-config-path"], { ...asTexts(cable.env.clear), ...secrets });
    assertShared(settings);
    assert.equal(String(cable.proxy.app_port), setting(settings, "server", "port"));
    assert.equal(cable.proxy.healthcheck.path, setting(settings, "server", "health_path"));
    assert.ok(cable.options["stop-timeout"] > needed(settings), `${cable.options["stop-timeout"]}`);
  });

  test("server, application and Redis find each other", () => {
    const [alias, port] = cable.env.clear.PLIMSOLL_RPC_HOST.split(":");
    assert.equal(servers.rpc.options["network-alias"], alias);
    assert.equal(appEnv.clear.ANYCABLE_RPC_HOST, `0.0.0.0:${port}`);
    assert.equal(appEnv.clear.ANYCABLE_HTTP_BROADCAST_URL, `https://${cableHost}/_broadcast`);
    assert.equal(cable.env.clear.PLIMSOLL_ALLOWED_ORIGINS, proxy.host);
    // The secret of the application is that of the server.
    assert.ok(cable.env.secret.includes("PLIMSOLL_SECRET:ANYCABLE_SECRET") && appEnv.secret.includes("ANYCABLE_SECRET"));
    // Kamal's Docker network does not reach beyond a host.
    for (const role of cable.roles) assert.deepEqual(servers[role], servers.rpc.hosts);
    const [address, published] = redis.port.split(":");
    assert.deepEqual([address.startsWith("10."), published], [true, "6379"]);
  });
});
