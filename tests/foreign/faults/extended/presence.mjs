// What can be wrong with presence.

import { Connection } from "../../extended/connection.mjs";
import { Presence } from "../../extended/presence.mjs";
import { Server } from "../../extended/server.mjs";

const json = JSON.stringify;

/** The one who joins hears of it so many times. */
const heardByJoiner = (times) => ({
  Connection: class extends Connection {
    join(...presence) {
      this.isJoining = true;
      super.join(...presence);
      this.isJoining = false;
    }

    send(text) {
      for (let n = this.isJoining ? times : 1; n > 0; n--) super.send(text);
    }
  },
});

/** By name: the parts, and `caughtBy`, ids of cases. */
export const PRESENCE = {
  "who joins hears it twice": { parts: heardByJoiner(2), caughtBy: ["presence/perform", "presence/commands"] },
  "who joins does not hear it": {
    parts: heardByJoiner(0),
    caughtBy: ["presence/perform", "presence/commands", "presence/transient"],
  },
  "a join without info": {
    parts: {
      Presence: class extends Presence {
        join(...presence) {
          const event = super.join(...presence);
          return event && { ...event, info: undefined };
        }
      },
    },
    caughtBy: ["presence/perform", "presence/commands", "presence/subscribe"],
  },
  "a leave is not told": {
    parts: {
      Presence: class extends Presence {
        leave(...session) {
          super.leave(...session);
        }
      },
    },
    caughtBy: ["presence/perform", "presence/commands", "presence/subscribe", "presence/sessions", "presence/info"],
  },
  "who loses the connection stays": {
    parts: {
      Presence: class extends Presence {
        lose() {}
      },
    },
    caughtBy: ["presence/subscribe"],
  },
  "who loses the connection leaves at once": {
    parts: {
      Connection: class extends Connection {
        lose() {
          for (const subscription of this.subscriptions.values()) this.leave(subscription);
        }
      },
    },
    caughtBy: ["presence/back-in-time"],
  },
  "a member leaves a while after it came, connected or not": {
    parts: {
      Presence: class extends Presence {
        join(stream, sid, presence) {
          const event = super.join(stream, sid, presence);
          this.lose(sid);
          return event;
        }
      },
    },
    caughtBy: ["presence/stays"],
  },
  "each session joins aloud": {
    parts: {
      Presence: class extends Presence {
        join(stream, sid, { id, info }) {
          super.join(stream, sid, { id, info });
          return { type: "join", id, info };
        }
      },
    },
    caughtBy: ["presence/sessions", "presence/info-replaced", "presence/back-in-time"],
  },
  "the first session that goes takes all with it": {
    parts: {
      Presence: class extends Presence {
        leave(stream, sid) {
          const event = super.leave(stream, sid);
          return event ?? { type: "leave", id: "kay" };
        }
      },
    },
    caughtBy: ["presence/sessions"],
  },
  "a leave takes all sessions of the id with it": {
    parts: {
      Presence: class extends Presence {
        leave(stream, sid) {
          const [member] = this.records(stream);
          return super.leave(stream, sid) ?? (member && { type: "leave", id: member.id });
        }
      },
    },
    caughtBy: ["presence/leave-own", "presence/sessions"],
  },
  "info lacks somebody": {
    parts: {
      Presence: class extends Presence {
        records(stream) {
          return super.records(stream).slice(1);
        }
      },
    },
    caughtBy: ["presence/info", "presence/info-replaced", "presence/one-id"],
  },
  "info counts sessions": {
    parts: {
      Connection: class extends Connection {
        send(text) {
          super.send(text.replace(/"total":(\d+)/, (_, total) => `"total":${Number(total) + 1}`));
        }
      },
    },
    caughtBy: ["presence/info"],
  },
  "info keeps who left": {
    parts: {
      Presence: class extends Presence {
        #left = [];

        leave(stream, sid) {
          const records = super.records(stream);
          const event = super.leave(stream, sid);
          this.#left.push(...records.filter(({ id }) => id === event?.id));
          return event;
        }

        records(stream) {
          return [...super.records(stream), ...this.#left];
        }
      },
    },
    caughtBy: ["presence/info"],
  },
  "info is what the first session said": {
    parts: {
      Presence: class extends Presence {
        join(stream, sid, { id, info }) {
          const known = this.records(stream).find((record) => record.id === id);
          return super.join(stream, sid, { id, info: known?.info ?? info });
        }
      },
    },
    caughtBy: ["presence/info-replaced"],
  },
  "a session is there as two": {
    parts: {
      Presence: class extends Presence {
        join(stream, sid, presence) {
          return super.join(stream, `${sid}/${presence.id}`, presence);
        }
      },
    },
    caughtBy: ["presence/one-id"],
  },
  "history keeps who came": {
    parts: {
      Server: class extends Server {
        announce(stream, event) {
          super.announce(stream, event);
          this.history.append(stream, json(event));
        }
      },
    },
    caughtBy: ["presence/transient"],
  },
  "a subscribe joins before its history": {
    parts: {
      Connection: class extends Connection {
        replay(identifier, subscription, request) {
          if (subscription.istate.$p) this.join(subscription, { id: "kay", info: { name: "kay" } });
          super.replay(identifier, subscription, request);
        }
      },
    },
    caughtBy: ["presence/subscribe-command"],
  },
};
