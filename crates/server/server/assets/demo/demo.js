// The demo's chat: the bare Action Cable protocol over a WebSocket, and figures from the server's page for Prometheus.
// The users of the load test say hundreds of things a second, so the page draws once per frame and keeps the last ones.

import { bytes, count, each, element, quantile, seconds, tile } from "/demo/figures.js";

const MAX_SHOWN = 60;
const INTERVAL_MS = 1000;
/** A minute of figures. */
const MAX_KEPT = 60;
/** What begins the ids of people here; those of the load test's users are numbers. */
const PERSON = "person-";
const IDENTIFIER = JSON.stringify({ channel: "ChatChannel", id: "demo" });

const byId = (id) => document.getElementById(id);

// Beside the charts of a load run the room is enough.
document.documentElement.classList.toggle("framed", window !== window.top);

// ---- The room ----------------------------------------------------------------------------------------------------------

/** Newest first; those of people also apart, where the crowd does not wash them away. */
const said = { all: [], people: [] };
let nHeard = 0;
/** When this page sent what it has not heard yet. */
const underWay = new Map();
let uid = null;

byId("join").addEventListener("submit", (event) => {
  event.preventDefault();
  uid = `${PERSON}${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  document.cookie = `uid=${byId("name").value}/${uid}; Path=/; SameSite=Strict`;
  byId("join").hidden = true;
  connect();
});

function connect() {
  tell("Connecting …");
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/cable`, "actioncable-v1-json");
  const send = (command) => socket.send(JSON.stringify({ identifier: IDENTIFIER, ...command }));
  socket.addEventListener("message", ({ data, timeStamp }) => {
    const { type, reason, message } = JSON.parse(data);
    if (type === "welcome") send({ command: "subscribe" });
    else if (type === "confirm_subscription") enter();
    else if (type === "disconnect") tell(`The server ends the connection: ${reason}.`);
    else if (message?.action === "newMessage") hear(message, timeStamp);
  });
  socket.addEventListener("close", leave);
  byId("speak").onsubmit = (event) => {
    event.preventDefault();
    const message = byId("message").value;
    underWay.set(message, performance.now());
    send({ command: "message", data: JSON.stringify({ action: "speak", message }) });
    byId("speak").reset();
  };
}

function enter() {
  tell("You are in.");
  byId("speak").hidden = false;
  byId("message").focus();
}

function leave() {
  byId("speak").hidden = true;
  byId("join").hidden = false;
  underWay.clear();
  tell("The connection is over. Join again when the server is up.");
}

function hear({ author_id, author, message }, at) {
  nHeard += 1;
  const isPerson = author_id.startsWith(PERSON);
  // Behind the words of the load test's users stands what their books need.
  const line = { author, words: isPerson ? message : message.replace(/ #\d+@\d+$/, ""), isPerson, took: null };
  if (author_id === uid && underWay.has(message)) {
    line.took = (at - underWay.get(message)) / 1000;
    underWay.delete(message);
  }
  keep(said.all, line);
  if (isPerson) keep(said.people, line);
  drawSoon();
}

function keep(lines, line) {
  lines.unshift(line);
  if (lines.length > MAX_SHOWN) lines.pop();
}

let isDrawing = false;
function drawSoon() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    const lines = byId("people").checked ? said.people : said.all;
    byId("messages").replaceChildren(...lines.map(drawn));
    tell(`${count(nHeard)} messages heard`);
  });
}
byId("people").addEventListener("change", drawSoon);

function drawn({ author, words, isPerson, took }) {
  const line = element("li", isPerson ? { class: "person" } : {}, `${author}: ${words}`);
  if (took !== null) line.append(element("small", {}, `there and back in ${seconds(took)}`));
  return line;
}

function tell(words) {
  byId("state").textContent = words;
}

// ---- Figures -----------------------------------------------------------------------------------------------------------

/** `{ at, name: value, name_bucket: [[bound, count], …] }` for each look. */
const history = [];

/** Prometheus' text format, as far as this server uses it for these figures: histograms are sums over all labels. */
function read(text, at) {
  const state = { at };
  for (const [, name, bound, value] of text.matchAll(/^anycable_go_(\w+)(?:\{.*?(?:le="(.+?)")?\})? (\S+)$/gm)) {
    if (bound) (state[name] ??= []).push([Number(bound.replace("+Inf", "Infinity")), Number(value)]);
    else state[name] = (state[name] ?? 0) + Number(value);
  }
  return state;
}

const now = (name) => (states) => states.at(-1)[name] ?? null;

function rate(name) {
  return (states) => {
    const [earlier, latest] = states.slice(-2);
    return latest ? ((latest[name] - earlier[name]) * 1000) / (latest.at - earlier.at) : null;
  };
}

/** Of what came in the last ten looks. */
function p99(name) {
  return (states) => {
    const latest = states.at(-1)[name];
    const earlier = states.at(-11)?.[name] ?? states[0][name];
    // Each bucket of the text includes all smaller ones.
    const upTo = latest.map(([, n], bucket) => n - earlier[bucket][1]);
    const counts = upTo.map((n, bucket) => n - (upTo[bucket - 1] ?? 0));
    return quantile(counts, latest.slice(0, -1).map(([bound]) => bound), 0.99);
  };
}

const TILES = [
  ["Clients", now("clients_num"), count],
  ["Said", rate("broadcast_msg_total"), each],
  ["Heard, all together", rate("server_msg_total"), each],
  ["To all of them, p(99)", p99("broadcast_duration_seconds_bucket"), seconds],
  ["Bytes sent", rate("data_sent_total"), (n) => `${bytes(n)}/s`],
  ["Server’s memory", now("mem_sys_bytes"), bytes],
];

async function look() {
  const response = await fetch("/metrics", { cache: "no-store" });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  history.push(read(await response.text(), performance.now()));
  if (history.length > MAX_KEPT) history.shift();
  const tiles = TILES.map(([title, figure, write]) => tile(title, history.map((_, n) => figure(history.slice(0, n + 1))), write));
  byId("tiles").replaceChildren(...tiles);
}

async function tick() {
  if (document.hidden) return;
  try {
    await look();
    byId("trouble").hidden = true;
  } catch {
    byId("trouble").textContent = "The server is gone: the demo is over. With --keep it stays up.";
    byId("trouble").hidden = false;
  }
}

setInterval(tick, INTERVAL_MS);
tick();
