// A real Redis Cluster of a test's own: three primaries, and replicas for some or all of them.

import { Cluster } from "ioredis";
import { eventually } from "./processes.mjs";
import { RedisServer } from "./redis.mjs";

const N_SLOTS = 16384;
const N_PRIMARIES = 3;

/** Milliseconds without an answer after which a node counts as dead. */
const NODE_TIMEOUT_MS = "2000";

/** A cluster that fails over takes a while, also on a busy machine. */
const PATIENCE_MS = 60_000;

export class RedisCluster {
  #password;
  #clients;
  #ids;
  /** The servers: first the primaries, then the replica of the first one, of the second one, …. */
  nodes;

  /** Keeps what it is told on disk, unless it `forgets`. Ends with the test. */
  static async start(t, { nReplicas = 0, password, forgets = false } = {}) {
    const cluster = new RedisCluster();
    cluster.#password = password;
    const options = [
      ...["--appendonly", forgets ? "no" : "yes", "--appendfsync", "always"],
      ...["--cluster-node-timeout", NODE_TIMEOUT_MS, "--cluster-replica-validity-factor", "0"],
      ...["--repl-diskless-sync-delay", "0"],
      ...(password ? ["--requirepass", password, "--masterauth", password] : []),
    ];
    cluster.nodes = [];
    for (let n = 0; n < N_PRIMARIES + nReplicas; n++) {
      cluster.nodes.push(await RedisServer.start(t, { isNode: true, options }));
    }
    cluster.#clients = cluster.nodes.map((node) => node.client(t, { password }));
    cluster.#ids = await Promise.all(cluster.#clients.map((client) => client.cluster("MYID")));
    await cluster.#join();
    return cluster;
  }

  async #join() {
    const bounds = Array.from({ length: N_PRIMARIES + 1 }, (_, n) => Math.floor((N_SLOTS * n) / N_PRIMARIES));
    for (let n = 0; n < N_PRIMARIES; n++) {
      await this.#clients[n].call("CLUSTER", "ADDSLOTSRANGE", bounds[n], bounds[n + 1] - 1);
    }
    for (const [n, client] of this.#clients.entries()) {
      await client.call("CLUSTER", "SET-CONFIG-EPOCH", n + 1);
      if (n > 0) await this.#clients[0].call("CLUSTER", "MEET", ...this.nodes[n].address.split(":"), this.nodes[n].busPort);
    }
    const { length } = this.nodes;
    for (const client of this.#clients) {
      const isWhole = (info) => info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${length}`);
      await eventually(async () => isWhole(await client.call("CLUSTER", "INFO")), "a whole cluster", PATIENCE_MS);
    }
    const replicas = this.#clients.slice(N_PRIMARIES);
    for (const [n, replica] of replicas.entries()) {
      await replica.call("CLUSTER", "REPLICATE", this.#ids[n]);
      await eventually(async () => (await replica.info("replication")).includes("master_link_status:up"), "a replica", PATIENCE_MS);
    }
    const nReplicas = (nodes) => nodes.match(/\bslave\b/g)?.length ?? 0;
    for (const client of this.#clients) {
      const knowsAll = async () => nReplicas(await client.call("CLUSTER", "NODES")) === replicas.length;
      await eventually(knowsAll, "all nodes to know the replicas", PATIENCE_MS);
    }
  }

  /** The addresses of all primaries, as `--redis_url` takes them. */
  get url() {
    return this.urlWith(this.#password);
  }

  urlWith(password) {
    const user = password ? `:${password}@` : "";
    return this.nodes
      .slice(0, N_PRIMARIES)
      .map(({ address }) => `redis://${user}${address}`)
      .join(",");
  }

  /** A foreign client that finds the node of a key itself. */
  client(t) {
    const startup = this.nodes.map(({ address }) => ({ host: address.split(":")[0], port: Number(address.split(":")[1]) }));
    const client = new Cluster(startup, { redisOptions: { password: this.#password } });
    client.on("error", () => {});
    t.after(() => client.disconnect());
    return client;
  }

  /** The foreign client of one node. */
  at(n) {
    return this.#clients[n];
  }

  /** Lets all nodes do something, those that are gone excepted. */
  everywhere(...words) {
    return Promise.allSettled(this.#clients.map((client) => client.call(...words)));
  }

  /** A name that begins so and whose keys the primary with this number has: its hash tag is the name. */
  async nameAt(n, beginning) {
    for (let number = 0; ; number++) {
      const name = `${beginning}-${number}`;
      if ((await this.primaryOf(name)) === n) return name;
    }
  }

  /** The number of the primary that has this hash tag at first. */
  async primaryOf(name) {
    return Math.floor((N_PRIMARIES * (await this.slot(name))) / N_SLOTS);
  }

  slot(key) {
    // Tests end the first ones.
    return this.#clients.at(-1).call("CLUSTER", "KEYSLOT", key);
  }

  /** Moves a slot with its keys, as `redis-cli --cluster reshard` does. `halfway` happens when the keys have moved. */
  async move(slot, from, to, halfway = async () => {}) {
    const setSlot = (n, ...words) => this.#clients[n].call("CLUSTER", "SETSLOT", slot, ...words);
    await setSlot(to, "IMPORTING", this.#ids[from]);
    await setSlot(from, "MIGRATING", this.#ids[to]);
    await this.#moveKeys(slot, from, to);
    await halfway();
    await this.#moveKeys(slot, from, to);
    await setSlot(to, "NODE", this.#ids[to]);
    await setSlot(from, "NODE", this.#ids[to]);
    await this.#agrees();
  }

  /**
   * Waits until the primaries name the same epochs and slots of each other. A slot that moves on before all know the epoch of
   * its last move may end up with no owner for good: two nodes take the same epoch, and each believes the other.
   */
  #agrees() {
    const primaries = this.#clients.slice(0, N_PRIMARIES);
    const views = () => Promise.all(primaries.map(async (client) => slotsAndEpochs(await client.call("CLUSTER", "NODES"))));
    return eventually(async () => new Set(await views()).size === 1, "all primaries to agree on the slots", PATIENCE_MS);
  }

  async #moveKeys(slot, from, to) {
    const auth = this.#password ? ["AUTH", this.#password] : [];
    for (;;) {
      const keys = await this.#clients[from].call("CLUSTER", "GETKEYSINSLOT", slot, 10);
      if (keys.length === 0) return;
      await this.#clients[from].call("MIGRATE", ...this.nodes[to].address.split(":"), "", 0, 5000, ...auth, "KEYS", ...keys);
    }
  }

  /** Waits until the replica of a primary has taken over. */
  promoted(primary) {
    const replica = this.#clients[N_PRIMARIES + primary];
    return eventually(async () => (await replica.info("replication")).includes("role:master"), "another primary", PATIENCE_MS);
  }

  /** Waits until a replica has what its primary has. */
  replicated(primary) {
    const offset = (info, name) => Number(new RegExp(`${name}:(\\d+)`).exec(info)[1]);
    return eventually(async () => {
      const [there, here] = await Promise.all([primary, N_PRIMARIES + primary].map((n) => this.#clients[n].info("replication")));
      return offset(here, "slave_repl_offset") >= offset(there, "master_repl_offset");
    }, "the replica to have everything");
  }
}

/** The id, epoch and slots of each node in an answer to `CLUSTER NODES`, in the order of the ids. */
function slotsAndEpochs(nodes) {
  const fields = nodes.trim().split("\n").map((line) => line.split(" "));
  return fields
    .map(([id, , , , , , epoch, , ...slots]) => [id, epoch, ...slots].join(" "))
    .sort()
    .join("\n");
}
