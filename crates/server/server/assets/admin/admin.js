// The page of operators: requests the server's counters every two seconds, keeps five minutes of them, and shows the
// results. The server itself keeps a day of some figures (past.js). What an operator looks for and does is in operating.js.
// It sends no requests while the page is hidden.

import { age, bytes, count, drawn, each, element, quantile, seconds, tile } from "/admin/figures.js";
import { showOperating, startOperating } from "/admin/operating.js";
import { Past } from "/admin/past.js";

const INTERVAL_MS = 2000;
/** Five minutes. */
const MAX_KEPT = 150;
/** What latency and failures are taken from. */
const WINDOW_MS = 60_000;

/** States of the server, oldest first. */
const history = [];

// ---- Figures -----------------------------------------------------------------------------------------------------------

const seriesOf = (state, name) => state.metrics[name] ?? [];
/** The sum over all labels. */
const total = (state, name) => seriesOf(state, name).reduce((sum, { value }) => sum + value, 0);

/** The oldest state of the last `ms`, but not the newest. */
function before(states, ms) {
  const latest = states.at(-1);
  return states.slice(0, -1).find(({ uptime_ms }) => latest.uptime_ms - uptime_ms <= ms) ?? states.at(-2);
}

/** How much a counter grew per second between two looks. */
function rate(states, name) {
  const [earlier, latest] = states.slice(-2);
  if (!latest) return null;
  const seconds = (latest.uptime_ms - earlier.uptime_ms) / 1000;
  return seconds > 0 ? (total(latest, name) - total(earlier, name)) / seconds : null;
}

/** What a histogram observed within the window, by bucket. */
function observed(states, name, labels = {}) {
  const matches = (series) => Object.entries(labels).every(([key, value]) => series.labels?.[key] === value);
  const counts = (state) =>
    seriesOf(state, name)
      .filter(matches)
      .reduce((sum, series) => sum.map((n, bucket) => n + series.counts[bucket]), Array(state.bucket_bounds.length + 1).fill(0));
  const latest = counts(states.at(-1));
  const earlier = states.length > 1 ? counts(before(states, WINDOW_MS)) : latest;
  return latest.map((n, bucket) => n - earlier[bucket]);
}

const p99 = (name) => (states) => quantile(observed(states, name), states.at(-1).bucket_bounds, 0.99);
const now = (name) => (states) => total(states.at(-1), name);
const perSecond = (name) => (states) => rate(states, name);

// ---- What is shown -----------------------------------------------------------------------------------------------------

/** Title, metric, what is made of the states so far, how it is written. */
const TILES = [
  ["Clients", "clients_num", now, count],
  ["Different clients", "clients_uniq_num", now, count],
  ["Streams", "broadcast_streams_num", now, count],
  ["Messages out", "server_msg_total", perSecond, each],
  ["Messages in", "client_msg_total", perSecond, each],
  ["Broadcasts", "broadcast_msg_total", perSecond, each],
  ["Bytes sent", "data_sent_total", perSecond, (n) => `${bytes(n)}/s`],
  ["New connections", "connections_total", perSecond, each],
  ["Broadcast p(99)", "broadcast_duration_seconds", p99, seconds],
  ["Event loop lag p(99)", "event_loop_lag_seconds", p99, seconds],
  ["Blocked clients", "blocked_clients_num", now, count],
  ["Memory", "mem_sys_bytes", now, bytes],
  ["Failed calls", "rpc_error_total", perSecond, each],
];

/** Title, metric of the number, metric of the memory. */
const KEPT = [
  ["Messages", "history_entries_num", "history_bytes"],
  ["Streams with messages", "history_streams_num"],
  ["Sessions that wait for their clients", "sessions_awaited_num"],
  ["Members that are present", "presence_members_num", "presence_bytes"],
  ["Joins and leaves that wait for the webhook", "presence_webhook_queue_size"],
];

/** Title, metric, how it is written. */
const SHARED = [
  ["Servers that share the broker", "broker_servers_num", count],
  ["Messages read that were not announced", "broker_repaired_total", count],
  ["Losses that clients were told", "broker_gaps_total", count],
  ["Cut off from the broker", "broker_deaf_milliseconds_total", (ms) => age(ms / 1000)],
  ["Channels of other servers", "cluster_channels_num", count],
  ["Cut off from other servers", "cluster_deaf_seconds", age],
  ["Messages that did not reach other servers", "cluster_unsent_msg_total", count],
];

const HISTOGRAMS = [
  ["Broadcasts, to their last write", "broadcast_duration_seconds", {}],
  ["Event loop lag", "event_loop_lag_seconds", {}],
  ["Broker, from a question to its answer", "broker_round_trip_seconds", {}],
  ["Application: connect", "rpc_call_duration_seconds", { command: "connect" }],
  ["Application: command", "rpc_call_duration_seconds", { command: "command" }],
];

const WRONG = [
  ["too slow, ended", "disconnected_slow_clients_total"],
  ["clients refused", "failed_auths_total"],
  ["client messages not readable", "failed_client_msg_total"],
  ["messages lost at an end", "failed_server_msg_total"],
  ["broadcasts not readable", "failed_broadcast_msg_total"],
];

const CALLS = [
  ["attempts", perSecond("rpc_call_total"), each],
  ["without a usable reply", perSecond("rpc_error_total"), each],
  ["attempts after a failed one", perSecond("rpc_retries_total"), each],
  ["timed out", perSecond("rpc_timeout_total"), each],
  ["wait for their turn", now("rpc_pending_num"), count],
  ["may be under way", now("rpc_capacity_num"), count],
  ["ended sessions to be told", now("disconnect_queue_size"), count],
  ["pending subscriptions", now("pending_subscriptions_num"), count],
];

const byId = (id) => document.getElementById(id);

/** The day that the server keeps, of which the lines show a part. */
const past = new Past(() => history.length > 0 && showTiles());

const number = (text, more = "") => element("td", { class: `number ${more}` }, text);
const head = (...titles) =>
  element("tr", {}, ...titles.map((title, n) => element("th", n > 0 ? { class: "number" } : {}, title)));

function showTiles() {
  const state = history.at(-1);
  const there = TILES.filter(([, name]) => name in state.metrics);
  const tiles = there.map(([title, name, figure, write]) => {
    const values = history.map((_, n) => figure(name)(history.slice(0, n + 1)));
    return tile(title, values, write, past.line(name));
  });
  byId("tiles").replaceChildren(...tiles);
}

function showHistograms(state) {
  const there = HISTOGRAMS.filter(([, name]) => name in state.metrics);
  byId("histograms").replaceChildren(...there.map(([title, name, labels]) => figure(title, observed(history, name, labels), state.bucket_bounds)));
}

function figure(title, counts, bounds) {
  const all = counts.reduce((sum, n) => sum + n, 0);
  const quantiles = [0.5, 0.95, 0.99].map((q) => `p(${q * 100}) ${seconds(quantile(counts, bounds, q) ?? 0)}`);
  const words = all === 0 ? "nothing happened" : `${quantiles.join(" · ")} · ${count(all)} in all`;
  const most = Math.max(...counts, 1);
  const width = 340 / counts.length;
  const bars = counts.map((n, bucket) => {
    const height = n === 0 ? 0 : Math.max(1.5, (80 * n) / most);
    const upTo = bucket < bounds.length ? `up to ${seconds(bounds[bucket])}` : `more than ${seconds(bounds.at(-1))}`;
    const bar = { x: bucket * width + 1, y: 84 - height, width: width - 2, height };
    return drawn("rect", bar, drawn("title", {}, `${upTo}: ${count(n)}`));
  });
  // Every third bound has room for its words: 100 µs, 1 ms, 10 ms …
  const labels = bounds.flatMap((bound, bucket) =>
    bucket % 3 === 0 ? [drawn("text", { x: (bucket + 1) * width, y: 97 }, seconds(bound))] : [],
  );
  return element(
    "figure",
    {},
    element("figcaption", {}, element("b", {}, title), element("span", {}, words)),
    drawn("svg", { viewBox: "0 0 340 100", role: "img", "aria-label": `${title}: ${words}` }, drawn("line", { x1: 0, x2: 340, y1: 84.5, y2: 84.5 }), ...bars, ...labels),
  );
}

function showDependencies({ dependencies }) {
  const rows = dependencies.map(({ name, up, reason, for_s }) =>
    element("tr", {}, element("td", {}, name), element("td", { class: up ? "good" : "bad" }, up ? "there" : reason), number(age(for_s))),
  );
  byId("dependencies").replaceChildren(...rows);
}

function showShared(state) {
  const there = SHARED.filter(([, name]) => name in state.metrics);
  // A server without others has the last one, too.
  byId("shared").hidden = there.length < 2;
  const rows = there.map(([title, name, write]) => element("tr", {}, element("td", {}, title), number(write(total(state, name)))));
  byId("servers").replaceChildren(...rows);
}

function showSlowSessions({ slow_sessions: sessions }) {
  if (!sessions?.length) {
    const words = sessions ? "None: every connection takes what is sent." : "Being counted …";
    return byId("slow").replaceChildren(element("tr", {}, element("td", {}, words)));
  }
  const rows = sessions.map(({ sid, transport, shard, pending_bytes, pending_messages, blocked_ms }) =>
    element(
      "tr",
      {},
      element("td", {}, element("code", {}, sid)),
      number(bytes(pending_bytes)),
      number(count(pending_messages)),
      number(age(blocked_ms / 1000)),
      number(`${transport}, shard ${shard}`),
    ),
  );
  byId("slow").replaceChildren(head("session", "waiting", "messages", "for", "on"), ...rows);
}

function showStreams(state) {
  const { largest_streams: streams } = state;
  byId("history").hidden = !streams;
  if (!streams) return;
  const rowsKept = KEPT.filter(([, name]) => name in state.metrics).map(([title, name, memory]) =>
    element(
      "tr",
      {},
      element("td", {}, title),
      number(count(total(state, name))),
      number(memory ? bytes(total(state, memory)) : ""),
    ),
  );
  byId("kept").replaceChildren(head("kept for clients", "number", "memory"), ...rowsKept);
  const rows = streams.map(({ stream, bytes: size, messages, last_at_ms }) =>
    element(
      "tr",
      {},
      element("td", {}, element("code", {}, stream)),
      number(bytes(size)),
      number(count(messages)),
      number(age(Math.max(0, state.time_ms - last_at_ms) / 1000)),
    ),
  );
  byId("streams").replaceChildren(head("stream", "memory", "messages", "last one ago"), ...rows);
}

function showCalls(state) {
  byId("application").hidden = !("rpc_call_total" in state.metrics);
  const rows = CALLS.map(([title, figure, write]) => {
    const value = figure(history);
    return element("tr", {}, element("td", {}, title), number(value === null ? "–" : write(value)));
  });
  const { reason } = state.pending_subscriptions;
  const why = reason ? [element("tr", {}, element("td", { class: "bad", colspan: 2 }, `last failed call: ${reason}`))] : [];
  byId("calls").replaceChildren(...rows, ...why);
}

function showWrong(state) {
  const earlier = history.length > 1 ? before(history, WINDOW_MS) : state;
  const refused = seriesOf(state, "refused_connections_total").map(({ labels, value }) => {
    const was = seriesOf(earlier, "refused_connections_total").find((series) => series.labels.reason === labels.reason);
    return [`connections: ${labels.reason}`, value, value - (was?.value ?? 0)];
  });
  const others = WRONG.map(([title, name]) => [title, total(state, name), total(state, name) - total(earlier, name)]);
  const rows = [...others, ...refused].map(([title, all, lately]) =>
    element("tr", {}, element("td", {}, title), number(count(lately), lately > 0 ? "bad" : ""), number(count(all))),
  );
  byId("wrong").replaceChildren(head("what", "last minute", "since start"), ...rows);
}

/** The way that messages for many clients take into the kernel. */
function io(state) {
  const rings = total(state, "io_uring_shards_num");
  if (rings === 0) return "system calls";
  return rings === state.shards ? "io_uring" : `io_uring on ${count(rings)} shards`;
}

function show() {
  const state = history.at(-1);
  const missing = state.dependencies.filter(({ up }) => !up).map(({ name }) => name);
  byId("what").replaceChildren(
    state.ready ? element("span", { class: "good" }, "ready") : element("span", { class: "bad" }, `not ready: ${missing.join(", ")}`),
    ` · ${state.version} on ${location.host} · up for ${age(state.uptime_ms / 1000)} · ` +
      `${count(state.shards)} shards, room for ${count(state.max_connections)} connections · writes through ${io(state)}`,
  );
  document.title = `${count(total(state, "clients_num"))} clients · Plimsoll`;
  showTiles();
  showDependencies(state);
  showShared(state);
  showHistograms(state);
  showSlowSessions(state);
  showStreams(state);
  showCalls(state);
  showWrong(state);
  showOperating(state);
}

// ---- Asking ------------------------------------------------------------------------------------------------------------

async function look() {
  const response = await fetch("/admin/state.json", { cache: "no-store" });
  // The cookie's time is up, or the secret is another one.
  if (response.status === 401) return location.reload();
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  const state = await response.json();
  const latest = history.at(-1);
  // Another process: its counters begin anew.
  if (latest && state.uptime_ms < latest.uptime_ms) {
    history.length = 0;
    past.forget();
  }
  // The same description again, as two pages that look at once may get it.
  else if (latest?.uptime_ms === state.uptime_ms) return;
  history.push(state);
  if (history.length > MAX_KEPT) history.shift();
  await past.follow();
  show();
}

function complain(reason) {
  byId("trouble").hidden = reason === null;
  byId("trouble").textContent = reason ?? "";
}

let isLooking = false;
async function tick() {
  if (document.hidden || isLooking) return;
  isLooking = true;
  try {
    await look();
    complain(null);
  } catch (error) {
    const since = history.length > 0 ? new Date(history.at(-1).time_ms).toLocaleTimeString() : "the beginning";
    complain(`No figures since ${since}: ${error.message}. Trying again.`);
  } finally {
    isLooking = false;
  }
}

setInterval(tick, INTERVAL_MS);
document.addEventListener("visibilitychange", tick);
startOperating();
tick();
