// What can be wrong with sessions that are resumed.

import { Connection } from "../../extended/connection.mjs";
import { Sessions } from "../../extended/sessions.mjs";

const json = JSON.stringify;

/** A welcome to a resumed session with something changed. */
const welcomed = (changed) => ({
  Connection: class extends Connection {
    send(text) {
      super.send(text.includes('"restored":true') ? json(changed(JSON.parse(text))) : text);
    }
  },
});

/** A session that is resumed otherwise than it was kept. */
const found = (changed) => ({
  Sessions: class extends Sessions {
    find(sid) {
      const session = super.find(sid);
      return session && changed(session);
    }
  },
});

/** By name: the parts, and `caughtBy`, ids of cases. */
export const RESUME = {
  "sessions are not kept": { parts: found(() => undefined), caughtBy: ["resume/header", "resume/state", "resume/user"] },
  "restored without subscriptions": {
    parts: {
      Connection: class extends Connection {
        resume(session) {
          super.resume(session);
          for (const [identifier, subscription] of this.subscriptions) {
            for (const stream of subscription.streams) this.server.hub.leave(stream, this, identifier);
          }
        }
      },
    },
    caughtBy: ["resume/header", "resume/query", "resume/twice", "resume/missed"],
  },
  "the application grants restored subscriptions again": {
    parts: {
      Connection: class extends Connection {
        async open(request) {
          await super.open(request);
          for (const [identifier, subscription] of this.subscriptions) await this.command("subscribe", identifier, subscription);
        }
      },
    },
    caughtBy: ["resume/no-calls"],
  },
  "restored_ids come in another order": {
    parts: welcomed((welcome) => ({ ...welcome, restored_ids: welcome.restored_ids.toReversed() })),
    caughtBy: [],
    suspectedBy: ["resume/order"],
  },
  "restored_ids has one too few": {
    parts: welcomed((welcome) => ({ ...welcome, restored_ids: welcome.restored_ids.slice(1) })),
    caughtBy: ["resume/header"],
  },
  "no restored_ids": {
    parts: welcomed(({ restored_ids, ...welcome }) => welcome),
    caughtBy: ["resume/header"],
  },
  "restored without a word": {
    parts: welcomed(({ type, sid }) => ({ type, sid })),
    caughtBy: ["resume/header", "resume/user"],
  },
  "one of two subscriptions is restored": {
    parts: found((session) => ({ ...session, subs: Object.fromEntries(Object.entries(session.subs).slice(1)) })),
    caughtBy: ["resume/header", "resume/state"],
  },
  "a resumed session keeps its sid": {
    parts: {
      Connection: class extends Connection {
        async open(request) {
          const sid = request.headers["x-anycable-restore-sid"];
          if (this.server.sessions.find(sid)) this.sid = sid;
          await super.open(request);
        }
      },
    },
    caughtBy: ["resume/header"],
  },
  "a resumed session hears everything twice": {
    parts: {
      Connection: class extends Connection {
        resume(session) {
          super.resume(session);
          const { send } = this;
          this.send = (text) => [text, text].forEach((copy) => send.call(this, copy));
        }
      },
    },
    caughtBy: ["resume/header", "resume/twice"],
  },
  "a session is resumed only once": {
    parts: {
      Connection: class extends Connection {
        resume(session) {
          this.save = () => {};
          super.resume(session);
        }
      },
    },
    caughtBy: ["resume/twice"],
  },
  "the sid in the URL is not looked at": {
    parts: {
      Connection: class extends Connection {
        open(request) {
          request.url = request.url.split("?")[0];
          return super.open(request);
        }
      },
    },
    caughtBy: ["resume/query"],
  },
  "the URL wins over the header": {
    parts: {
      Connection: class extends Connection {
        open(request) {
          if (request.url.includes("sid=")) delete request.headers["x-anycable-restore-sid"];
          return super.open(request);
        }
      },
    },
    caughtBy: ["resume/header-first"],
  },
  "channels forget": {
    parts: found((session) => ({ ...session, istate: Object.fromEntries(Object.keys(session.istate).map((id) => [id, {}])) })),
    caughtBy: ["resume/state"],
  },
  "a resumed session is nobody's": { parts: found((session) => ({ ...session, ids: "{}" })), caughtBy: ["resume/user"] },
  "sessions are kept with all that they ever subscribed to": {
    parts: {
      Connection: class extends Connection {
        save() {
          this.most = Math.max(this.most ?? 0, this.subscriptions.size);
          if (this.subscriptions.size === this.most) super.save();
        }
      },
    },
    caughtBy: ["resume/unsubscribed"],
  },
  "an epoch for each session": {
    parts: {
      Connection: class extends Connection {
        send(text) {
          super.send(text.replace(/"epoch":"[^"]+"/, `"epoch":"${this.sid}"`));
        }
      },
    },
    caughtBy: ["history/positions", "history/offset", "resume/missed"],
  },
  "any sid opens the door": {
    parts: {
      Sessions: class extends Sessions {
        find(sid) {
          return sid ? (super.find(sid) ?? { ids: "{}", subs: {}, cstate: {}, istate: {} }) : undefined;
        }
      },
    },
    caughtBy: ["resume/unknown", "resume/unknown-refused"],
  },
  "who comes with an unknown sid is refused": {
    parts: {
      Connection: class extends Connection {
        async open(request) {
          const sid = request.headers["x-anycable-restore-sid"];
          if (sid && !this.server.sessions.find(sid)) return this.dismiss("unauthorized", false, 1000);
          await super.open(request);
        }
      },
    },
    caughtBy: ["resume/unknown"],
  },
  "sessions of the base protocol are kept": {
    parts: {
      Connection: class extends Connection {
        save() {
          const { isExtended } = this;
          this.isExtended = true;
          super.save();
          this.isExtended = isExtended;
        }
      },
    },
    caughtBy: ["resume/base"],
  },
};
