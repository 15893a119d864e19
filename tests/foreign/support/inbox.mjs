// Things that arrive in their own time, taken out in order by a test that waits for them.

import { inspect } from "node:util";
import { within } from "./deadline.mjs";

export class Inbox {
  #items = [];
  #waiting = [];
  #name;

  /** `name` says in error texts what arrives here. */
  constructor(name) {
    this.#name = name;
  }

  push(item) {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(item);
    else this.#items.push(item);
  }

  /** Number of items that have arrived and were not taken. */
  get size() {
    return this.#items.length;
  }

  /** Takes the next item; waits for it when there is none. */
  next(patienceMs) {
    if (this.#items.length > 0) return Promise.resolve(this.#items.shift());
    const arrival = new Promise((resolve) => this.#waiting.push(resolve));
    return within(arrival, `the next of ${this.#name}`, patienceMs);
  }

  /** Takes items until `matches` accepts one, and returns that one. */
  async until(matches, patienceMs) {
    const passed = [];
    for (;;) {
      let item;
      try {
        item = await this.next(patienceMs);
      } catch (error) {
        throw new Error(`${error.message}; until then came ${inspect(passed)}`);
      }
      if (matches(item)) return item;
      passed.push(item);
    }
  }

  /** Takes `n` items. */
  async take(n) {
    const items = [];
    while (items.length < n) items.push(await this.next());
    return items;
  }
}
