// The commands of clients. What one of them may not do is an error, which clients do not hear of.

import { SUCCESS } from "./application.mjs";

/** Where the state of a subscription names the stream that its clients may whisper to. */
const WHISPER = "$w";

const json = JSON.stringify;

/** The answer to a client that asks who is present. */
function presenceOf(connection, identifier, wantsRecords) {
  try {
    const stream = connection.present(connection.subscription(identifier));
    const records = connection.server.presence.records(stream);
    return { type: "info", total: records.length, records: wantsRecords ? records : undefined };
  } catch {
    return { type: "error" };
  }
}

/** By name: what it does for a connection. */
export const COMMANDS = {
  async subscribe(connection, identifier, { history, presence }) {
    if (typeof identifier !== "string") throw new Error("an identifier is a string");
    if (connection.subscriptions.has(identifier)) throw new Error(`${identifier} is already subscribed`);
    const subscription = { streams: new Set(), istate: {} };
    const reply = await connection.command("subscribe", identifier, subscription);
    const isSubscribed = reply.status === SUCCESS;
    if (isSubscribed) connection.subscriptions.set(identifier, subscription);
    connection.apply(identifier, subscription, reply);
    if (isSubscribed && history) connection.replay(identifier, subscription, history);
    if (isSubscribed && presence) connection.join(subscription, presence);
  },

  async unsubscribe(connection, identifier) {
    const subscription = connection.subscription(identifier);
    const reply = await connection.command("unsubscribe", identifier, subscription);
    connection.apply(identifier, subscription, reply);
    connection.remove(identifier, subscription);
  },

  async message(connection, identifier, { data }) {
    if (typeof data !== "string") throw new Error("the data of a message is a string");
    const subscription = connection.subscription(identifier);
    connection.apply(identifier, subscription, await connection.command("message", identifier, subscription, data));
  },

  history(connection, identifier, { history = {} }) {
    connection.replay(identifier, connection.subscription(identifier), history);
  },

  presence(connection, identifier, { data }) {
    const message = presenceOf(connection, identifier, data?.return_records !== false);
    connection.send(json({ type: "presence", identifier, message }));
  },

  join(connection, identifier, { presence }) {
    connection.join(connection.subscription(identifier), presence);
  },

  leave(connection, identifier) {
    connection.leave(connection.subscription(identifier));
  },

  /** To all but the one who whispers; never kept. */
  whisper(connection, identifier, { data }) {
    const stream = connection.subscription(identifier).istate[WHISPER];
    const meta = { transient: true, exclude_socket: connection.sid };
    if (stream) connection.server.publish({ stream, data: json(data), meta });
  },

  ping(connection) {
    connection.send(json({ type: "pong" }));
  },

  /** Says no more than that the client is there. */
  pong() {},
};
