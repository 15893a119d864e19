// What an operator looks for on the page, and does: sessions, streams, settings, warnings, the log's level, the end.

import { age, bytes, count, element } from "/admin/figures.js";

/** From the quietest to the loudest. */
const LEVELS = ["error", "warn", "info", "debug", "trace"];

const byId = (id) => document.getElementById(id);
const number = (text) => element("td", { class: "number" }, text);
const row = (...cells) => element("tr", {}, ...cells);
const cell = (...children) => element("td", {}, ...children);
const code = (text) => element("code", {}, text);
const head = (...titles) => row(...titles.map((title) => element("th", {}, title)));

async function ask(path) {
  const response = await fetch(`/admin/${path}`, { cache: "no-store" });
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answers ${response.status}`);
  return response.json();
}

/** Gives an order; returns what the server says. */
async function order(path, body) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`/admin/${path}`, request);
  const words = (await response.text()).trim();
  if (!response.ok) throw new Error(words || `the server answers ${response.status}`);
  return words;
}

/** Does what a person asked for, and says in `place` what became of it. */
async function doing(place, action) {
  place.classList.remove("bad");
  try {
    place.textContent = (await action()) ?? "";
  } catch (error) {
    place.classList.add("bad");
    place.textContent = error.message;
  }
}

/** Asks whether a person is sure. */
function sure(question, yes) {
  byId("sure-of").textContent = question;
  byId("sure-yes").textContent = yes;
  const dialog = byId("sure");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// ---- Sessions ----------------------------------------------------------------------------------------------------------

async function findSessions() {
  const text = byId("find-sessions").elements.text.value;
  const { total, sessions } = await ask(`sessions.json?${new URLSearchParams({ text })}`);
  const rows = sessions.map(sessionRow);
  byId("sessions").replaceChildren(...(rows.length > 0 ? [head("session", "identifiers", "subscriptions", "waiting", ""), ...rows] : []));
  if (total === 0) return "No session of this server has that.";
  return total > sessions.length ? `${count(total)} sessions; these are ${count(sessions.length)} of them.` : `${count(total)} ${total === 1 ? "session" : "sessions"}.`;
}

function sessionRow({ sid, transport, shard, identifiers, subscriptions, n_subscriptions, pending_bytes }) {
  const lines = subscriptions.map(({ identifier, stream }) => element("div", {}, code(stream), identifier ? ` as ${identifier}` : ""));
  const more = n_subscriptions - subscriptions.length;
  if (more > 0) lines.push(element("div", {}, `and ${count(more)} more`));
  if (lines.length === 0) lines.push("none");
  const end = element("button", { class: "danger" }, "Disconnect …");
  end.addEventListener("click", () => disconnect(sid));
  return row(
    cell(code(sid), element("small", {}, ` ${transport}, shard ${shard}`)),
    cell(code(identifiers || "–")),
    cell(...lines),
    number(bytes(pending_bytes)),
    cell(end),
  );
}

async function disconnect(sid) {
  if (!(await sure(`Disconnect the session ${sid}? Its client may come back at once.`, "Disconnect"))) return;
  await doing(byId("sessions-found"), async () => {
    const words = await order("disconnect", { sid, reconnect: true });
    await findSessions();
    return words;
  });
}

// ---- Streams and channels ----------------------------------------------------------------------------------------------

async function findStreams() {
  const text = byId("find-streams").elements.text.value;
  const { streams, channels } = await ask(`streams.json?${new URLSearchParams({ text })}`);
  const table = (title, unit, names) => {
    const rows = names.map(({ name, listeners }) => row(cell(code(name)), number(count(listeners))));
    return [row(element("th", {}, title), element("th", { class: "number" }, unit)), ...(rows.length > 0 ? rows : [row(cell("none"))])];
  };
  byId("listened").replaceChildren(...table("stream", "listeners", streams));
  byId("channels").replaceChildren(...table("channel", "streams of its subscriptions", channels));
  return "";
}

// ---- Settings, warnings, the log, the end ------------------------------------------------------------------------------

/** A name that breaks behind its dots and underscores only. */
const nameOf = (name) => element("code", { class: "name" }, ...name.split(/(?<=[._])/).flatMap((part) => [part, element("wbr")]));

async function showSettings() {
  const { settings } = await ask("settings.json");
  const rowOf = ({ name, value, origin }) => row(cell(nameOf(name)), cell(value === null ? "not set" : code(value)), cell(origin));
  const [own, others] = [settings.filter(({ origin }) => origin !== "default"), settings.filter(({ origin }) => origin === "default")];
  const none = row(cell("Every setting has its default."));
  byId("settings").replaceChildren(head("setting", "value", "from"), ...(own.length > 0 ? own.map(rowOf) : [none]));
  byId("defaults").replaceChildren(...others.map(rowOf));
}

function showWarnings({ warnings, time_ms }) {
  const rows = warnings.toReversed().map(({ at_ms, level, text, times }) =>
    row(
      element("td", { class: "when" }, `${age(Math.max(0, time_ms - at_ms) / 1000)} ago`),
      element("td", { class: level === "error" ? "bad" : "" }, level),
      cell(text, times > 1 ? element("small", {}, ` ${count(times)} times`) : ""),
    ),
  );
  byId("warnings").replaceChildren(...(rows.length > 0 ? rows : [row(cell("None since the start."))]));
}

async function changeLevel() {
  const level = byId("level").value;
  await doing(byId("done"), () => order("log-level", { level }));
}

async function drain() {
  const question = "Drain and stop this server? It takes no more clients, sends those that are here away, and ends, as with SIGTERM.";
  if (await sure(question, "Drain and stop")) await doing(byId("done"), () => order("drain", {}));
}

/** Shows what came with the figures. */
export function showOperating(state) {
  showWarnings(state);
  // Not while the operator chooses.
  if (document.activeElement !== byId("level")) byId("level").value = state.log_level;
}

export function startOperating() {
  byId("level").replaceChildren(...LEVELS.map((level) => element("option", { value: level }, level)));
  byId("level").addEventListener("change", changeLevel);
  byId("drain").addEventListener("click", drain);
  const finds = [
    ["find-sessions", "sessions-found", findSessions],
    ["find-streams", "streams-found", findStreams],
  ];
  for (const [form, place, find] of finds) {
    byId(form).addEventListener("submit", (event) => {
      event.preventDefault();
      doing(byId(place), find);
    });
  }
  doing(byId("done"), showSettings);
}
