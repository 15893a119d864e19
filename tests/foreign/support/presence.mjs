// What clients and servers say to each other about presence.

import assert from "node:assert/strict";

/** The content of the next message, which is about presence. */
export async function presence(client, identifier, patienceMs) {
  const { type, identifier: its, message } = JSON.parse(await client.frames.next(patienceMs));
  assert.deepEqual([type, its], ["presence", identifier], JSON.stringify(message));
  return message;
}

export const join = (client, identifier, id, info) => client.send({ command: "join", identifier, presence: { id, info } });

export async function ask(client, identifier, data, patienceMs) {
  client.send({ command: "presence", identifier, data });
  return presence(client, identifier, patienceMs);
}

export const joined = (id, info) => ({ type: "join", id, ...(info && { info }) });
export const left = (id) => ({ type: "leave", id });
export const list = (...records) => ({ type: "info", total: records.length, ...(records.length && { records }) });
