// What can be wrong with history.

import { Connection } from "../../extended/connection.mjs";
import { History } from "../../extended/history.mjs";
import { Server } from "../../extended/server.mjs";

/** An answer to a request for history with its messages changed. */
const replayed = (changed) => ({
  History: class extends History {
    replay(...request) {
      const entries = super.replay(...request);
      return entries && changed(entries);
    }
  },
});

/** By name: the parts, and `caughtBy`, ids of cases. */
export const HISTORY = {
  "replayed offsets are one too high": {
    parts: replayed((entries) => entries.map((entry) => ({ ...entry, offset: entry.offset + 1 }))),
    caughtBy: ["history/positions"],
  },
  "offsets do not grow": {
    parts: {
      History: class extends History {
        append(stream, data) {
          return { ...super.append(stream, data), offset: 1 };
        }
      },
    },
    caughtBy: ["history/positions"],
  },
  "the last message is replayed again": {
    parts: {
      History: class extends History {
        after(stream, { offset, epoch }) {
          const is = (entry) => entry.offset === offset;
          const later = super.after(stream, { offset, epoch });
          return later && [...this.entries(stream).filter(is), ...later];
        }
      },
    },
    caughtBy: ["history/offset", "history/up-to-date", "history/two-streams", "history/transient", "resume/missed"],
  },
  "a message is missing in the replay": {
    parts: replayed((entries) => entries.slice(1)),
    caughtBy: ["history/since", "history/offset", "history/subscribe", "resume/missed"],
  },
  "the latest message is missing in the replay": {
    parts: replayed((entries) => entries.slice(0, -1)),
    caughtBy: ["history/since", "history/offset", "history/latest"],
  },
  "the replay begins with the latest": {
    parts: replayed((entries) => entries.reverse()),
    caughtBy: ["history/since", "history/offset", "history/latest"],
  },
  "all that is kept is replayed, whatever the time": {
    parts: {
      History: class extends History {
        since(stream) {
          return this.entries(stream);
        }
      },
    },
    caughtBy: ["history/since-later"],
  },
  "what nobody hears is not kept": {
    parts: {
      History: class extends History {
        heard = new Set();

        append(stream, data) {
          return this.heard.has(stream) ? super.append(stream, data) : { stream, data };
        }
      },
      Connection: class extends Connection {
        listen(identifier, subscription, stream) {
          this.server.history.heard.add(stream);
          super.listen(identifier, subscription, stream);
        }
      },
    },
    caughtBy: ["history/since", "history/subscribe"],
  },
  "a time without messages is refused": {
    parts: replayed((entries) => (entries.length > 0 ? entries : null)),
    caughtBy: ["history/since-later", "history/since-never", "history/up-to-date"],
  },
  "confirmation before the replay": {
    parts: {
      Connection: class extends Connection {
        replay(...request) {
          const held = [];
          this.send = (text) => held.push(text);
          super.replay(...request);
          delete this.send;
          [held.pop(), ...held].forEach((text) => this.send(text));
        }
      },
    },
    caughtBy: ["history/since", "history/offset", "history/subscribe", "presence/subscribe-command"],
  },
  "history is not confirmed": {
    parts: {
      Connection: class extends Connection {
        send(text) {
          if (!text.includes("confirm_history")) super.send(text);
        }
      },
    },
    caughtBy: ["history/since", "history/up-to-date"],
  },
  "the history of a subscribe comes before its confirmation": {
    parts: {
      Connection: class extends Connection {
        send(text) {
          if (text.includes("confirm_subscription")) setImmediate(() => super.send(text));
          else super.send(text);
        }
      },
    },
    caughtBy: ["history/subscribe", "history/subscribe-refused", "presence/subscribe-command"],
  },
  "any epoch will do": {
    parts: {
      History: class extends History {
        after(stream, { offset }) {
          return super.after(stream, { offset, epoch: this.epoch });
        }
      },
    },
    caughtBy: ["history/unknown-epoch", "history/subscribe-refused", "history/all-or-nothing"],
  },
  "an offset that is yet to come is taken for the last": {
    parts: {
      History: class extends History {
        after(stream, { offset, epoch }) {
          const last = this.entries(stream).at(-1)?.offset;
          return super.after(stream, { offset: Math.min(offset, last), epoch });
        }
      },
    },
    caughtBy: ["history/offset-ahead"],
  },
  "a stream without messages is up to date": {
    parts: {
      History: class extends History {
        after(stream, position) {
          return this.entries(stream).length > 0 ? super.after(stream, position) : [];
        }
      },
    },
    caughtBy: ["history/unknown-stream"],
  },
  "an old offset gets what is left": {
    parts: {
      History: class extends History {
        after(stream, { offset, epoch }) {
          const first = this.entries(stream)[0]?.offset;
          return super.after(stream, { offset: Math.max(offset, first), epoch });
        }
      },
    },
    caughtBy: ["history/without-gaps"],
  },
  "history keeps every other message of many": {
    parts: {
      History: class extends History {
        since(stream, seconds) {
          const entries = super.since(stream, seconds);
          return entries.length < 50 ? entries : entries.filter(({ offset }) => offset % 2 === 0);
        }
      },
    },
    caughtBy: ["history/latest"],
  },
  "a stream that is refused is left out": {
    parts: {
      History: class extends History {
        after(stream, position) {
          return super.after(stream, position) ?? [];
        }
      },
    },
    caughtBy: ["history/all-or-nothing", "history/unknown-epoch"],
  },
  "only the first stream is replayed": {
    parts: {
      History: class extends History {
        replay(streams, request) {
          return super.replay(streams.slice(0, 1), request);
        }
      },
    },
    caughtBy: ["history/two-streams", "history/all-or-nothing"],
  },
  "history for everybody": {
    parts: {
      Connection: class extends Connection {
        subscription(identifier) {
          const { streams } = JSON.parse(identifier);
          return this.subscriptions.get(identifier) ?? { streams: new Set(streams), istate: {} };
        }
      },
    },
    caughtBy: ["history/not-subscribed"],
  },
  "streams with a slash in their name have no history": {
    parts: {
      History: class extends History {
        append(stream, data) {
          return stream.includes("/") ? { stream, data } : super.append(stream, data);
        }
      },
    },
    caughtBy: ["history/stream-names"],
  },
  "a channel that does not grant it lets its clients whisper": {
    parts: {
      Connection: class extends Connection {
        subscription(identifier) {
          const subscription = super.subscription(identifier);
          subscription.istate.$w ??= JSON.parse(identifier).streams?.[0];
          return subscription;
        }
      },
    },
    caughtBy: ["options/whisper-not-granted"],
  },
  "transient messages are kept": {
    parts: {
      Server: class extends Server {
        publish({ meta = {}, ...message }) {
          super.publish({ ...message, meta: { ...meta, transient: meta.broadcast_type === "presence" } });
        }
      },
    },
    caughtBy: ["history/transient"],
  },
};
