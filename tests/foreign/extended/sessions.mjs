// Sessions that can be resumed: who they are, what they subscribed to, and what channels remember, by session id.

export class Sessions {
  #kept = new Map();
  #ttl_ms;

  /** The seconds for which a session outlives its connection. */
  constructor({ sessions_ttl }) {
    this.#ttl_ms = sessions_ttl * 1000;
  }

  /** Keeps a session as it is now, as text: nothing is shared with the connection. */
  save(sid, session) {
    this.#kept.set(sid, { text: JSON.stringify(session), expires: Date.now() + this.#ttl_ms });
  }

  /** A session as it was saved; none of one that is unknown or has expired. */
  find(sid) {
    const kept = this.#kept.get(sid);
    return kept && kept.expires > Date.now() ? JSON.parse(kept.text) : undefined;
  }

  /** Its time begins anew. */
  touch(sid) {
    const kept = this.#kept.get(sid);
    if (kept) kept.expires = Date.now() + this.#ttl_ms;
  }

  sweep() {
    for (const [sid, { expires }] of this.#kept) if (expires <= Date.now()) this.#kept.delete(sid);
  }
}
