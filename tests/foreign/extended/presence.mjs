// Presence, stream by stream. A user is present while one of the user's sessions is: joins of further ones are silent,
// and only the last one leaves.

export class Presence {
  /** By stream, by presence id: what is told of it, and its sessions with the time at which a lost one expires. */
  #streams = new Map();
  #ttl_ms;

  /** The time in seconds for which a user stays present after a lost connection. */
  constructor({ presence_ttl }) {
    this.#ttl_ms = presence_ttl * 1000;
  }

  /** The event to announce, if any; an error if the session is present as another user. */
  join(stream, sid, { id, info }) {
    if (!id) throw new Error("a presence id is not empty");
    const members = this.#streams.get(stream) ?? new Map();
    this.#streams.set(stream, members);
    const other = [...members].find(([known, { sessions }]) => known !== id && sessions.has(sid));
    if (other) throw new Error(`presence id mismatch: the session is there as ${other[0]}`);
    const member = members.get(id);
    const sessions = member?.sessions ?? new Map();
    members.set(id, { info, sessions: sessions.set(sid, Infinity) });
    return member ? undefined : { type: "join", id, info };
  }

  /** The event to tell, or none. */
  leave(stream, sid) {
    const members = this.#streams.get(stream) ?? new Map();
    const [id, member] = [...members].find(([, { sessions }]) => sessions.has(sid)) ?? [];
    member?.sessions.delete(sid);
    if (!member || member.sessions.size > 0) return undefined;
    members.delete(id);
    if (members.size === 0) this.#streams.delete(stream);
    return { type: "leave", id };
  }

  /** Members of a stream with what is told of them. */
  records(stream) {
    return [...(this.#streams.get(stream) ?? [])].map(([id, { info }]) => ({ id, info }));
  }

  /** The connection of a session is lost: unless it is back in time, it leaves. */
  lose(sid) {
    for (const [, , sessions] of this.#everywhere()) if (sessions.has(sid)) sessions.set(sid, Date.now() + this.#ttl_ms);
  }

  /** Ends what has expired: streams with the events to tell. */
  sweep() {
    const expired = this.#everywhere().flatMap(([stream, , sessions]) =>
      [...sessions].filter(([, expires]) => expires <= Date.now()).map(([sid]) => [stream, sid]),
    );
    return expired.map(([stream, sid]) => [stream, this.leave(stream, sid)]).filter(([, event]) => event);
  }

  #everywhere() {
    return [...this.#streams].flatMap(([stream, members]) => [...members].map(([id, { sessions }]) => [stream, id, sessions]));
  }
}
