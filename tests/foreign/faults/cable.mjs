// What a server of cables can do wrong, one thing at a time, and which cases of `plimsoll conform cable` must notice.
//
// A fault changes what passes between a client and a right server (see proxy.mjs). `toClient` and `toServer` get a
// message as text, the connection, and `pass`, which sends a text on; what they do not pass is lost. A connection keeps
// what a fault remembers in `notes`. Other hooks: `handshake` changes the upstream's URL and headers, `protocol` the
// sub-protocol that is agreed on, `closed` what becomes of a closed connection.

/** A message of the server as an object; none of what is not JSON. */
const read = (text) => JSON.parse(text);
const isData = (text) => text.startsWith('{"identifier":');
const isType = (type) => (text) => text.startsWith(`{"type":"${type}"`);
const isConfirmation = isType("confirm_subscription");
const isRejection = isType("reject_subscription");
const isDisconnect = isType("disconnect");
const isPing = isType("ping");

/** The payload of a data message as it is written, and the text with another one. */
const payloadOf = (text) => text.slice(text.indexOf(',"message":') + ',"message":'.length, -1);
const withPayload = (text, payload) => `${text.slice(0, text.indexOf(',"message":'))},"message":${payload}}`;

/** Changes messages of one kind on their way to the client. */
const change = (isIt, changed) => ({ toClient: (text, { pass }) => pass(isIt(text) ? changed(text) : text) });

/** Loses messages of one kind on their way to the client. */
const lose = (isIt) => ({
  toClient: (text, { pass, notes }) => {
    if (!isIt(text, notes)) pass(text);
  },
});

/** Holds messages of one kind back until another message has passed that `isBefore`. */
const delay = (isIt, isBefore) => ({
  toClient: (text, { pass, notes }) => {
    if (isIt(text)) {
      (notes.held ??= []).push(text);
      return;
    }
    pass(text);
    if (isBefore(text)) (notes.held ?? []).splice(0).forEach(pass);
  },
});

/** How many data messages have passed a connection, this one included. */
const count = (notes) => (notes.n = (notes.n ?? 0) + 1);

const sorted = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value;

/**
 * By name: the hooks, and `caughtBy`, ids of cases. `verdict` is what those come to, if not `fail`; `restarts` is true when
 * one of them restarts the server.
 */
export const FAULTS = {
  "late confirmation": {
    ...delay(isConfirmation, (text) => !isPing(text)),
    caughtBy: ["order/commands"],
  },
  "confirmation after the first broadcast": {
    ...delay(isConfirmation, isData),
    caughtBy: ["order/commands", "streams/receives"],
  },
  "confirmation instead of a rejection": {
    ...change(isRejection, (text) => text.replace("reject_", "confirm_")),
    caughtBy: ["subscriptions/rejected", "connection/channel-request"],
  },
  "rejection instead of a confirmation": {
    ...change(isConfirmation, (text) => text.replace("confirm_", "reject_")),
    caughtBy: ["subscriptions/confirmed"],
  },
  "confirmation with more in it": {
    ...change(isConfirmation, (text) => text.replace('{"type"', '{"ok":true,"type"')),
    caughtBy: ["subscriptions/confirmed"],
  },
  "two confirmations": {
    toClient: (text, { pass }) => (isConfirmation(text) ? [text, text] : [text]).forEach(pass),
    verdict: "non-strict",
    caughtBy: ["races/duplicate"],
  },
  "silent rejection": { ...lose(isRejection), caughtBy: ["subscriptions/rejected"] },
  "transmissions after the confirmation": {
    ...delay(isData, isConfirmation),
    caughtBy: ["subscriptions/transmissions"],
  },
  "welcome after the first confirmation": {
    ...delay(isType("welcome"), isConfirmation),
    caughtBy: ["connection/welcome"],
  },
  "ping before the welcome that never comes": {
    ...change(isType("welcome"), () => '{"type":"ping","message":1}'),
    caughtBy: ["connection/welcome"],
  },
  "ping without a time": { ...change(isPing, () => '{"type":"ping"}'), caughtBy: ["connection/ping-timestamps"] },
  "pings with one time": {
    ...change(isPing, () => '{"type":"ping","message":1700000000}'),
    caughtBy: ["connection/ping-timestamps"],
  },
  "a ping left out": {
    ...lose((text, notes) => isPing(text) && (notes.pings = (notes.pings ?? 0) + 1) === 2),
    verdict: "non-strict",
    caughtBy: ["connection/ping-interval"],
  },
  "wrong reconnect flag": {
    ...change(isDisconnect, (text) => text.replace(/"reconnect":(true|false)/, (_, is) => `"reconnect":${is !== "true"}`)),
    caughtBy: ["closing/remote", "closing/remote-for-good", "connection/unauthorized"],
  },
  "wrong reason": {
    ...change(isDisconnect, (text) => text.replace(/"reason":"\w+"/, '"reason":"unknown"')),
    caughtBy: ["closing/remote", "connection/unauthorized"],
  },
  "no disconnect message": {
    ...lose(isDisconnect),
    restarts: true,
    caughtBy: ["closing/remote", "closing/restart", "order/last-words", "connection/unauthorized"],
  },
  "close without a frame": {
    closed: ({ cut }) => cut(),
    caughtBy: ["closing/remote", "closing/by-application", "connection/unauthorized"],
  },
  "no close": { closed: () => {}, caughtBy: ["closing/remote", "connection/unauthorized"] },
  "only the first session is ended": {
    ...lose((text, { shared }) => isDisconnect(text) && (shared.ended = (shared.ended ?? 0) + 1) > 1),
    caughtBy: ["closing/remote-many"],
  },
  "two broadcasts in another order": {
    toClient: (text, { pass, notes }) => {
      if (isData(text) && count(notes) === 50) {
        notes.held = text;
        return;
      }
      pass(text);
      if (notes.held) pass(notes.held);
      notes.held = undefined;
    },
    caughtBy: ["order/broadcasts", "order/thousand"],
  },
  "one message in 1,000 is lost": {
    ...lose((text, notes) => isData(text) && count(notes) === 500),
    caughtBy: ["order/thousand"],
  },
  "one message in 1,000 comes twice": {
    toClient: (text, { pass, notes }) => (isData(text) && count(notes) === 500 ? [text, text] : [text]).forEach(pass),
    caughtBy: ["order/thousand"],
  },
  "the last message comes twice": {
    toClient: (text, { pass, notes }) => (isData(text) && count(notes) === 1000 ? [text, text] : [text]).forEach(pass),
    caughtBy: ["order/thousand"],
  },
  "what comes right after a confirmation is lost": {
    toClient: (text, { pass, notes }) => {
      if (!(isData(text) && notes.isFresh)) pass(text);
      notes.isFresh = isConfirmation(text);
    },
    caughtBy: ["confirmation/never-missed", "streams/receives"],
  },
  "numbers rounded": {
    ...change(isData, (text) => withPayload(text, JSON.stringify(JSON.parse(payloadOf(text))))),
    verdict: "informational",
    caughtBy: ["fidelity/numbers", "fidelity/transmitted"],
  },
  "keys in another order": {
    ...change(isData, (text) => withPayload(text, JSON.stringify(sorted(JSON.parse(payloadOf(text)))))),
    verdict: "informational",
    caughtBy: ["fidelity/key-order"],
  },
  "HTML made harmless": {
    ...change(isData, (text) => withPayload(text, payloadOf(text).replaceAll("<", "&lt;"))),
    caughtBy: ["fidelity/escapes", "streams/broadcast-text"],
  },
  "other escapes": {
    ...change(isData, (text) => withPayload(text, payloadOf(text).replaceAll("<", "\\u003c"))),
    verdict: "non-strict",
    caughtBy: ["fidelity/escapes"],
  },
  "U+2028 left out": {
    ...change(isData, (text) => text.replaceAll("\u2028", "")),
    caughtBy: ["fidelity/unicode"],
  },
  "a text becomes an object": {
    ...change(isData, (text) => {
      const payload = JSON.parse(payloadOf(text));
      return typeof payload === "string" && payload.startsWith("{") ? withPayload(text, payload) : text;
    }),
    caughtBy: ["streams/broadcast-json-text"],
  },
  "empty payloads are lost": {
    ...lose((text) => isData(text) && ['""', "{}", "[]"].includes(payloadOf(text))),
    caughtBy: ["size/empty"],
  },
  "large messages are cut": {
    ...change(isData, (text) => (text.length > 500_000 ? withPayload(text, '""') : text)),
    caughtBy: ["size/1-mb"],
  },
  "identifier written anew": {
    ...change(
      (text) => text.includes('"identifier":'),
      (text) => {
        const { identifier } = read(text);
        const anew = (() => {
          try {
            return JSON.stringify(JSON.parse(identifier));
          } catch {
            return identifier;
          }
        })();
        return text.replace(JSON.stringify(identifier), () => JSON.stringify(anew));
      },
    ),
    caughtBy: ["fidelity/identifier"],
  },
  "message to the wrong subscription": {
    toClient: (text, { pass, notes }) => {
      if (isConfirmation(text)) notes.first ??= read(text).identifier;
      if (!isData(text) || !notes.first) return pass(text);
      pass(`{"identifier":${JSON.stringify(notes.first)},"message":${payloadOf(text)}}`);
    },
    caughtBy: ["subscriptions/right-one", "streams/one-copy-each"],
  },
  "unsubscribe ignored": {
    toServer: (text, { pass }) => text.includes('"command":"unsubscribe"') || pass(text),
    caughtBy: ["streams/unsubscribed", "streams/client-leaves", "races/unsubscribe-in-flight"],
  },
  "streams are never stopped": {
    toServer: (text, { pass }) => /\\"action\\":\\"stop/.test(text) || pass(text),
    caughtBy: ["streams/stop", "streams/stop-all"],
  },
  "a whisper comes back": {
    toServer: (text, { pass, toClient }) => {
      pass(text);
      const { command, identifier, data } = read(text);
      if (command === "whisper") toClient(JSON.stringify({ identifier, message: data }));
    },
    caughtBy: ["options/whisper"],
  },
  "an unknown command ends the connection": {
    toServer: (text, { pass, cut }) => (text.includes('"command":"dance"') ? cut() : pass(text)),
    caughtBy: ["faults/unknown-command"],
  },
  "the first sub-protocol is always agreed on": {
    protocol: (offered) => offered[0],
    caughtBy: ["connection/sub-protocol-unknown"],
  },
  "no sub-protocol is agreed on": { protocol: () => undefined, caughtBy: ["connection/sub-protocol"] },
  "the query is lost": {
    handshake: ({ path, headers }) => ({ path: path.split("?")[0], headers }),
    caughtBy: ["connection/url"],
  },
  "cookies are lost": {
    handshake: ({ path, headers: { cookie, ...headers } }) => ({ path, headers }),
    caughtBy: ["connection/cookies"],
  },
  "headers are lost": {
    handshake: ({ path, headers: { "x-api-token": token, ...headers } }) => ({ path, headers }),
    caughtBy: ["connection/header"],
  },
};

/** Whether a command has no identifier. */
const isNameless = (text) => !(JSON.parse(text).identifier ?? false);

/** What a right server may do otherwise, with the cases that must not call it a failure. */
export const FREEDOMS = {
  "a command without identifier is rejected": {
    toServer: (text, { pass, toClient }) =>
      isNameless(text) ? toClient('{"type":"reject_subscription","identifier":null}') : pass(text),
    allowedBy: ["faults/no-identifier"],
  },
  "a command without identifier ends the connection": {
    toServer: (text, { pass, close }) => (isNameless(text) ? close(1003, "no identifier") : pass(text)),
    allowedBy: ["faults/no-identifier", "faults/identifier-not-json"],
  },
};
