// Who listens to which stream, and what a message looks like to each subscription.

const json = JSON.stringify;

/** Data as it is written, if it is JSON; other data, and `null`, which means nothing to clients, as a text. */
function payload(data) {
  try {
    return JSON.parse(data) === null ? json(data) : data;
  } catch {
    return json(data);
  }
}

/** A message for a subscription: of a type, if it has one, and with its position, if it is kept. */
export function message(identifier, { type, stream, data, epoch, offset }) {
  const kind = type ? `"type":${json(type)},` : "";
  const position = epoch ? `,"stream_id":${json(stream)},"epoch":${json(epoch)},"offset":${offset}` : "";
  return `{${kind}"identifier":${json(identifier)},"message":${payload(data)}${position}}`;
}

export class Hub {
  /** By stream and connection: identifiers of subscriptions. */
  #listeners = new Map();

  join(stream, connection, identifier) {
    const connections = this.#listeners.get(stream) ?? new Map();
    const identifiers = connections.get(connection) ?? new Set();
    this.#listeners.set(stream, connections.set(connection, identifiers.add(identifier)));
  }

  leave(stream, connection, identifier) {
    const connections = this.#listeners.get(stream);
    const identifiers = connections?.get(connection);
    identifiers?.delete(identifier);
    if (identifiers?.size === 0) connections.delete(connection);
    if (connections?.size === 0) this.#listeners.delete(stream);
  }

  /** Sends an entry to each subscription of its stream, but not to the session `except`. */
  deliver(entry, except) {
    for (const [connection, identifiers] of this.#listeners.get(entry.stream) ?? []) {
      if (connection.sid === except) continue;
      for (const identifier of identifiers) connection.send(message(identifier, entry));
    }
  }
}
