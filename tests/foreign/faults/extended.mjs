// What a server of AnyCable's extended protocol can do wrong, one thing at a time, and which cases of
// `plimsoll conform cable` must notice.
//
// A fault is a part of `extended/server.mjs` (`Server` itself, `Connection`, `History`, `Presence`, `Sessions`) that is put in
// the place of the right one. `caughtBy` has the ids of cases that must fail, `suspectedBy` those that must be non-strict.

import { HISTORY } from "./extended/history.mjs";
import { PRESENCE } from "./extended/presence.mjs";
import { RESUME } from "./extended/resume.mjs";

export const FAULTS = { ...HISTORY, ...RESUME, ...PRESENCE };
