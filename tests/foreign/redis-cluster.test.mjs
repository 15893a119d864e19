// `plimsoll serve --redis_url a,b,c`: a real Redis Cluster, whose nodes are cut off, stopped and killed, and whose slots move.
// docs/reference/redis-broker.md has the guarantees.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisCluster } from "./support/redis-cluster.mjs";
import {
  disconnectsEverywhere,
  expectReadiness,
  goesOnElsewhere,
  inRedis,
  next,
  PATIENCE_MS,
  publish,
  readiness,
  reachesAll,
  send,
  startServer,
  subscribed,
  survives,
  survivesCuts,
  survivesUnderLoad,
  takesEntries,
} from "./support/shared-streams.mjs";

describe("two servers", () => {
  let cluster, servers;
  const ends = [];

  before(async () => {
    cluster = await RedisCluster.start({ after: (end) => ends.unshift(end) });
    servers = await Promise.all([startServer(inRedis(cluster.url)), startServer(inRedis(cluster.url))]);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    for (const end of ends) await end();
  });

  test("broadcasts into either reach the clients of both, once and in one order, whichever node has the stream", async (t) => {
    for (const n of [0, 1, 2]) await reachesAll(t, servers, await cluster.nameAt(n, "calm"));
  });

  test("streams whose names are no hash tags are kept, too", async (t) => {
    for (const stream of ["}a{b}", "a}b", "{"]) await reachesAll(t, servers, stream);
  });

  test("cut subscriptions cost no message and no client", (t) =>
    survivesCuts(t, servers, "cut", () => cluster.everywhere("CLIENT", "KILL", "TYPE", "pubsub")));

  test("cut connections for commands cost no confirmed message and no client", (t) =>
    survivesUnderLoad(t, servers, ["a", "b", "c"], async () => {
      for (let n = 0; n < 5; n++) {
        await publish(servers[0], "pace", n);
        await cluster.everywhere("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      }
    }));

  test("a slot that moves to another node and back under load costs no message and no client", async (t) => {
    const streams = await Promise.all(["moved", "other"].map((name) => cluster.nameAt(0, name)));
    const slot = await cluster.slot(streams[0]);
    await survivesUnderLoad(t, servers, streams, async () => {
      for (const [from, to] of [[0, 1], [1, 2], [2, 0]]) {
        await cluster.move(slot, from, to);
        await publish(servers[0], streams[0].replace(/^moved/, "pace"), from);
      }
    });
  });

  test("a slot that is halfway to another node delays messages, and loses none", async (t) => {
    const stream = await cluster.nameAt(1, "halfway");
    const slot = await cluster.slot(stream);
    await survives(t, servers, stream, async (publishDuring) => {
      let during;
      await cluster.move(slot, 1, 2, async () => {
        during = publishDuring();
        // No node has the record of the new key, so neither takes the message.
        const { status } = await send(servers[1], { stream, data: "never" }, "again");
        assert.equal(status, 503);
      });
      await during;
    });
    await cluster.move(slot, 2, 1);
  });

  test("a node that stops for seconds costs no message and no client", async (t) => {
    const stream = await cluster.nameAt(2, "stopped");
    await survives(t, servers, stream, async (publishDuring) => {
      cluster.nodes[2].signal("SIGSTOP");
      const during = publishDuring();
      await expectReadiness(servers, 503);
      cluster.nodes[2].signal("SIGCONT");
      await during;
    });
  });

  test("a node that is killed and comes back costs no confirmed message and no client", async (t) => {
    const stream = await cluster.nameAt(1, "killed");
    await survives(t, servers, stream, async (publishDuring) => {
      await cluster.nodes[1].kill();
      await expectReadiness(servers, 503);
      const during = publishDuring();
      await cluster.nodes[1].resume();
      await during;
    });
  });

  test("slots without a node are named, and the servers go on when they have one", async (t) => {
    const stream = await cluster.nameAt(0, "uncovered");
    const slot = await cluster.slot(stream);
    await survives(t, servers, stream, async (publishDuring) => {
      // A node that forgets the slot before its owner does hears of it again, and nothing tells it afterwards that it is gone.
      const areAway = async () => {
        await cluster.everywhere("CLUSTER", "DELSLOTS", slot);
        return (await Promise.all(servers.map(readiness))).every((status) => status === 503);
      };
      await eventually(areAway, "servers that miss the slot", PATIENCE_MS);
      for (const server of servers) await server.logged(/Redis Cluster: 1 of the 16384 slots have no primary/);
      const during = publishDuring();
      await cluster.at(0).call("CLUSTER", "ADDSLOTS", slot);
      await during;
    });
  });
});

test("when a primary dies, its replica goes on, and no client notices", async (t) => {
  const cluster = await RedisCluster.start(t, { nReplicas: 1, password: "s3cret" });
  const servers = await Promise.all([startServer(inRedis(cluster.url)), startServer(inRedis(cluster.url))]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  await survives(t, servers, await cluster.nameAt(0, "dead"), async (publishDuring) => {
    await cluster.replicated(0);
    await cluster.nodes[0].kill();
    await publishDuring();
  });
  await reachesAll(t, servers, await cluster.nameAt(0, "later"));
  for (const { stderr } of servers) assert.doesNotMatch(stderr, /s3cret/);
});

test("with --redis_wait a primary that dies under load costs no confirmed message", async (t) => {
  const cluster = await RedisCluster.start(t, { nReplicas: 3 });
  const servers = await Promise.all([0, 1].map(() => startServer(inRedis(cluster.url), "--redis_wait", "1")));
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const streams = await Promise.all([0, 1].map((n) => cluster.nameAt(n, "under-load")));
  const pace = await cluster.nameAt(1, "pace");
  const dies = async () => {
    for (let n = 0; n < 10; n++) await publish(servers[0], pace, n);
    await cluster.nodes[0].kill();
    await cluster.promoted(0);
    // As the replica of its successor, which confirms nothing before.
    await cluster.nodes[0].resume();
  };
  await survivesUnderLoad(t, servers, streams, dies, { mayBeTold: true });
});

test("a client whose server dies goes on at another one with its positions, and so does one that comes later", async (t) =>
  goesOnElsewhere(t, inRedis((await RedisCluster.start(t)).url)));

test("a command to disconnect reaches the clients of all servers, whichever takes it", async (t) => {
  const flags = inRedis((await RedisCluster.start(t)).url);
  await disconnectsEverywhere(t, [flags, flags]);
});

test("an entry of a Redis stream is published once, by one server, also while its slot moves", async (t) => {
  const cluster = await RedisCluster.start(t);
  const slot = await cluster.slot("__anycable__");
  const owner = Math.floor((3 * slot) / 16384);
  await takesEntries(t, inRedis(cluster.url), cluster.client(t), () => cluster.move(slot, owner, (owner + 1) % 3));
});

for (const flags of [["--broadcast_adapter", "redis"], ["--pubsub", "redis", "--broadcast_adapter", "http"]]) {
  test(`${flags.join(" ")} hears every node, and goes on when one dies`, async (t) => {
    const cluster = await RedisCluster.start(t);
    const start = () => Server.start("--public", "--broadcast_key", "secret", "--redis_url", cluster.url, ...flags);
    const servers = await Promise.all([start(), start()]);
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    const clients = await Promise.all(servers.map((server) => subscribed(t, server, "s")));
    const payload = (message) => ({ stream: "s", data: JSON.stringify(message) });
    const isForAll = flags.includes("--pubsub");
    const broadcast = async (message, n) => {
      if (isForAll) {
        const isSent = async () => (await send(servers[n % 2], payload(message), randomUUID())).status === 201;
        await eventually(isSent, "a broadcast", PATIENCE_MS);
      } else {
        await cluster.at(n).publish("__anycable__", JSON.stringify(payload(message)));
      }
    };
    const expectMessage = async (message) => {
      for (const client of clients) assert.equal((await next(client)).message, message);
    };
    await expectReadiness(servers, 200);
    // One after the other: messages from different nodes may overtake each other.
    for (const n of [0, 1, 2]) {
      await broadcast(`at ${n}`, n);
      await expectMessage(`at ${n}`);
    }
    await cluster.nodes[1].kill();
    // A server that was connected there is connected to another one now.
    await eventually(async () => {
      const counts = await Promise.all([0, 2].map((n) => cluster.at(n).call("PUBSUB", "NUMSUB", isForAll ? "s" : "__anycable__")));
      return counts.reduce((sum, [, count]) => sum + count, 0) === servers.length;
    }, "all servers to hear the nodes that are left", PATIENCE_MS);
    await expectReadiness(servers, 200);
    await broadcast("later", 2);
    await expectMessage("later");
  });
}

test("a wrong password is named, and does not end the server", async (t) => {
  const cluster = await RedisCluster.start(t, { password: "right-s3cret" });
  const server = await startServer(inRedis(cluster.urlWith("wrong-s3cret")), "--broadcast_adapter", "http");
  t.after(() => server.stop());
  const expected = /Redis Cluster: no node says which one has which slots: .*WRONGPASS.*check the user and the password of --redis_url/;
  await server.logged(expected);
  assert.equal((await send(server, { stream: "s", data: "1" }, randomUUID())).status, 503);
  await expectReadiness([server], 503);
  const lines = server.stderr.split("\n").filter((line) => line.includes("WRONGPASS"));
  // One of the cluster, and one of the announcements.
  assert.ok(lines.length <= 2, lines.join("\n"));
  assert.doesNotMatch(server.stderr, /s3cret/);
});
