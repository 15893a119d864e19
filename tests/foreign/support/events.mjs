// Clients of event streams: npm `eventsource`, which is a browser's EventSource for Node.js, and `fetch` with npm's
// parser, which shows what an EventSource hides.

import { EventSource } from "eventsource";
import { createParser } from "eventsource-parser";
import { within } from "./deadline.mjs";
import { Inbox } from "./inbox.mjs";

/** An EventSource dispatches an event to who asked for its type. */
const TYPES = ["welcome", "confirm_subscription", "reject_history", "disconnect", "message"];

export class EventsClient {
  /** All events but pings, as `[type, data]`. */
  events = new Inbox("events");
  /** The data of pings. */
  pings = new Inbox("pings");
  /** HTTP status of failed attempts; undefined when the connection just ended. */
  errors = new Inbox("errors of an EventSource");
  /** One entry for each time that the server has answered with a stream. */
  opened = new Inbox("answers to an EventSource");

  /** Connects; `headers` are what a browser would add. The client is closed when the test ends. */
  constructor(t, url, headers = {}) {
    this.source = new EventSource(url, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
    });
    t.after(() => this.close());
    for (const type of TYPES) this.source.addEventListener(type, ({ data }) => this.events.push([type, data]));
    this.source.addEventListener("ping", ({ data }) => this.pings.push(data));
    this.source.addEventListener("error", ({ code }) => this.errors.push(code));
    this.source.addEventListener("open", () => this.opened.push(true));
  }

  /** Connects and waits until everything is confirmed: the welcome and one confirmation are taken. */
  static async subscribed(t, url, headers) {
    const client = new EventsClient(t, url, headers);
    await client.confirmed();
    return client;
  }

  async confirmed() {
    await this.events.until(([type]) => type === "confirm_subscription");
  }

  close() {
    this.source.close();
  }
}

export class EventsResponse {
  /** All events, as `[type, data]`; `message` is the type of those that have none. */
  events = new Inbox("events of a response");
  comments = new Inbox("comments of a response");
  /** What the server asks a client to wait before it reconnects, in milliseconds. */
  retries = [];

  /** Sends a request and reads the events of its answer, which must be a stream. */
  static async fetch(t, url, init = {}) {
    const abort = new AbortController();
    t.after(() => abort.abort());
    const response = await within(fetch(url, { ...init, signal: abort.signal }), `an answer of ${url}`);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    const events = new EventsResponse();
    events.headers = response.headers;
    events.abort = () => abort.abort();
    events.ended = events.#read(response.body);
    events.ended.catch(() => {});
    return events;
  }

  async #read(body) {
    const parser = createParser({
      onEvent: ({ event = "message", data }) => this.events.push([event, data]),
      onComment: (comment) => this.comments.push(comment),
      onRetry: (interval) => this.retries.push(interval),
    });
    const decoder = new TextDecoder();
    for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
  }
}
