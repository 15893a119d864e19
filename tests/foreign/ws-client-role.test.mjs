// Our load client against npm `ws` as the server: exact counts when all goes well, and when it does not.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { plimsollJson } from "./support/plimsoll.mjs";
import { PeerServer } from "./support/peer-server.mjs";

const N_CLIENTS = 10;
const N_SAMPLES = 20;
const SIZES = ["--step-size", String(N_CLIENTS), "--total-steps", "1", "--sample-size", String(N_SAMPLES)];

/** The one step of a broadcast run with these counts of messages. */
const counts = ({ n_lost = 0, n_duplicated = 0, n_out_of_order = 0 } = {}) => ({
  n_broadcasts: N_SAMPLES,
  n_deliveries_expected: N_CLIENTS * N_SAMPLES,
  n_deliveries: N_CLIENTS * N_SAMPLES - n_lost,
  n_lost,
  n_duplicated,
  n_out_of_order,
});

const only = (object, names) => Object.fromEntries(names.map((name) => [name, object[name]]));

/** The flags for a kind of server such as `actioncable in msgpack`. */
function flagsFor(kind) {
  const [type, encoding] = kind.split(" in ");
  return ["--server-type", type, ...(encoding ? ["--action-cable-encoding", encoding] : [])];
}

const BINARY_CABLES = ["actioncable in msgpack", "actioncable in protobuf"];

/** Runs `plimsoll bench broadcast` with one wait of a second for late deliveries. */
function broadcast(peer, type, ...more) {
  const args = [...flagsFor(type), "--wait-broadcasts", "1", ...SIZES, ...more];
  return plimsollJson("bench", "broadcast", peer.url, ...args);
}

function assertCounts(report, expected) {
  assert.equal(report.steps.length, 1);
  const [step] = report.steps;
  assert.equal(step.clients, N_CLIENTS);
  assert.deepEqual(only(step.plimsoll, Object.keys(expected)), expected);
}

describe("bench broadcast", () => {
  for (const type of ["json", "binary", "actioncable", ...BINARY_CABLES]) {
    for (const padding of [0, 200]) {
      test(`${type} with ${padding} bytes of padding: everything is counted and nothing is missing`, async (t) => {
        const peer = await PeerServer.start(t, type);
        const more = ["--concurrent", "4", "--payload-padding", String(padding)];
        const { code, report, stderr } = await broadcast(peer, type, ...more);
        assert.equal(code, 0, stderr);
        assertCounts(report, counts());
        assert.equal(peer.n_broadcasts, N_SAMPLES);
        assert.equal(peer.n_peak, N_CLIENTS);
        const { acknowledgement_us, last_delivery_us, listener_us, connect } = report.steps[0].plimsoll;
        assert.equal(acknowledgement_us.count, N_SAMPLES);
        assert.equal(last_delivery_us.count, N_SAMPLES);
        assert.equal(listener_us.count, N_CLIENTS * N_SAMPLES);
        assert.equal(connect.n_connected, N_CLIENTS);
        assert.equal(connect.n_failed, 0);
      });
    }

    test(`${type}: a lost delivery is counted, and the run ends with 3`, async (t) => {
      const deliver = (client, message, { n_broadcast, n_client }) => {
        if (n_broadcast !== 7 || n_client !== 3) client.send(message);
      };
      const peer = await PeerServer.start(t, type, { deliver });
      const { code, report } = await broadcast(peer, type);
      assert.equal(code, 3);
      assertCounts(report, counts({ n_lost: 1 }));
    });

    test(`${type}: a delivery that comes twice is counted`, async (t) => {
      const deliver = (client, message, { n_broadcast, n_client }) => {
        client.send(message);
        if (n_broadcast === 7 && n_client === 3) client.send(message);
      };
      const peer = await PeerServer.start(t, type, { deliver });
      const { code, report } = await broadcast(peer, type);
      assert.equal(code, 0, "no server of this kind promises that it never happens");
      assertCounts(report, counts({ n_duplicated: 1 }));
    });

    test(`${type}: a delivery that is overtaken is counted`, async (t) => {
      let held;
      const deliver = (client, message, { n_broadcast, n_client }) => {
        if (n_broadcast === 7 && n_client === 3) held = message;
        else client.send(message);
        if (n_broadcast === 8 && n_client === 3) client.send(held);
      };
      const peer = await PeerServer.start(t, type, { deliver });
      const { code, report } = await broadcast(peer, type, "--concurrent", "1");
      assert.equal(code, 0, "no server of this kind promises that it never happens");
      assertCounts(report, counts({ n_out_of_order: 1 }));
    });
  }

  test("a message of somebody else on the same channel is not ours", async (t) => {
    const foreign = '{"type":"broadcast","payload":{"sendTime":"1","padding":"x"}}';
    const deliver = (client, message, { n_broadcast }) => {
      if (n_broadcast === 7) client.send(foreign);
      client.send(message);
    };
    const peer = await PeerServer.start(t, "json", { deliver });
    const { code, report, stderr } = await broadcast(peer, "json");
    assert.equal(code, 0, stderr);
    assertCounts(report, counts());
    assert.equal(report.plimsoll.n_foreign, N_CLIENTS);
  });

  test("a server that hangs up on a client in the middle ends the run with 3, not with a hang", async (t) => {
    const deliver = (client, message, { n_broadcast, n_client }) => {
      if (n_broadcast === 7 && n_client === 3) client.terminate();
      else client.send(message);
    };
    const peer = await PeerServer.start(t, "json", { deliver });
    const { code, stderr } = await broadcast(peer, "json");
    assert.equal(code, 3, stderr);
  });
});

describe("bench echo", () => {
  /** Runs `plimsoll bench echo`. */
  const echo = (peer, type, ...more) =>
    plimsollJson("bench", "echo", peer.url, ...flagsFor(type), ...SIZES, ...more);

  function assertEchoes(report, { n_unanswered = 0 } = {}) {
    assert.equal(report.steps.length, 1);
    const [{ clients, plimsoll }] = report.steps;
    assert.equal(clients, N_CLIENTS);
    assert.deepEqual(only(plimsoll, ["n_sent", "n_unanswered"]), { n_sent: N_SAMPLES, n_unanswered });
    assert.equal(plimsoll.acknowledgement_us.count, N_SAMPLES - n_unanswered);
  }

  for (const type of ["echo", "json", "binary", "actioncable", ...BINARY_CABLES]) {
    test(`${type}: every echo is counted`, async (t) => {
      const peer = await PeerServer.start(t, type);
      const { code, report, stderr } = await echo(peer, type, "--concurrent", "4");
      assert.equal(code, 0, stderr);
      assertEchoes(report);
      assert.equal(peer.n_peak, N_CLIENTS);
    });
  }

  test("a greeting is not taken for an echo", async (t) => {
    const peer = await PeerServer.start(t, "echo", { greeting: "Welcome to simple echo server" });
    const { code, report, stderr } = await echo(peer, "echo");
    assert.equal(code, 0, stderr);
    assertEchoes(report);
  });
});

describe("bench connect", () => {
  for (const kind of ["actioncable", ...BINARY_CABLES]) {
    test(`${kind}: all clients are connected and subscribed`, async (t) => {
      const peer = await PeerServer.start(t, kind);
      const flags = flagsFor(kind.replace("actioncable", "actioncable-connect"));
      const args = [...flags, "--concurrent", "10", "--step-size", "50", "--total-steps", "2"];
      const { code, report, stderr } = await plimsollJson("bench", "connect", peer.url, ...args);
      assert.equal(code, 0, stderr);
      assert.deepEqual(report.steps.map((step) => step.clients), [50, 100]);
      for (const { plimsoll } of report.steps) {
        assert.deepEqual(only(plimsoll.connect, ["n_connected", "n_failed"]), { n_connected: 50, n_failed: 0 });
      }
      assert.equal(peer.n_peak, 100);
    });
  }

  test("a server that does not agree to the encoding: the reason is told, and the run fails", async (t) => {
    const peer = await PeerServer.start(t, "actioncable");
    const args = [...flagsFor("actioncable in msgpack"), "--step-size", "5", "--total-steps", "1"];
    const { code, report, stderr } = await plimsollJson("bench", "connect", peer.url, ...args);
    assert.ok(code === 1 || code === 3, `exit code ${code}`);
    assert.match(stderr + JSON.stringify(report), /none of the 5 clients became ready: .*the sub-protocol actioncable-v1-msgpack; it chose none/);
  });

  test("a server that is not a WebSocket server: the reason is told, and the run fails", async (t) => {
    const http = createServer((_, response) => response.writeHead(500).end());
    http.on("upgrade", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    t.after(() => http.close());
    const url = `ws://127.0.0.1:${http.address().port}/cable`;
    const args = ["--server-type", "actioncable-connect", "--step-size", "5", "--total-steps", "1"];
    const { code, report, stderr } = await plimsollJson("bench", "connect", url, ...args);
    assert.ok(code === 1 || code === 3, `exit code ${code}`);
    assert.match(stderr + JSON.stringify(report), /403/);
  });
});
