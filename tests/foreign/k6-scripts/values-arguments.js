// Arguments of every kind, where functions want a text, a number or an object.
import crypto from "k6/crypto";
import { SharedArray } from "k6/data";
import encoding from "k6/encoding";
import exec from "k6/execution";
import { parseHTML } from "k6/html";
import { Counter, Trend } from "k6/metrics";
import { check, group, sleep } from "k6";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "k6/timers";
import { valuesOf } from "./values.js";

export { handleSummary } from "./data.js";

const users = new SharedArray("users", () => [{ name: "a" }, { name: "b", tags: ["x"] }, 3]);
const trend = new Trend("own_trend", 1);
const counter = new Counter("own_counter");

const ARGUMENTS = {
  undefined: undefined, null: null, number: 5, negative: -1, NaN: NaN, text: "7", "no text": "", true: true, object: {},
  list: [1, 2], "no list": [], function: () => 1, date: new Date(0), half: "\ud800",
};

const functions = {};
const add = (name, value) => {
  functions[name] = value;
};
for (const [name, argument] of Object.entries(ARGUMENTS)) {
  const isTime = typeof argument === "number" || typeof argument === "string" || argument === true;
  if (!isTime) add(`sleep ${name}`, () => sleep(argument) === undefined);
  add(`group of ${name}`, () => group("x", argument));
  add(`check ${name}`, () => check(argument, { yes: (value) => !!value }));
  add(`check that is ${name}`, () => check(1, { is: argument }));
  add(`encode ${name}`, () => encoding.b64encode(argument));
  add(`decode ${name}`, () => encoding.b64decode(argument));
  add(`format ${name}`, () => encoding.b64decode("YWI=", "std", argument));
  add(`digest ${name}`, () => crypto.md5(argument, "hex"));
  add(`digest as ${name}`, () => crypto.md5("a", argument));
  add(`key ${name}`, () => crypto.hmac("sha256", argument, "a", "hex"));
  add(`mac ${name}`, () => crypto.hmac("sha256", "a", argument, "hex"));
  add(`algorithm ${name}`, () => crypto.hmac(argument, "a", "a", "hex"));
  add(`hex ${name}`, () => crypto.hexEncode(argument));
  add(`trend ${name}`, () => trend.add(argument));
  add(`counter ${name}`, () => counter.add(argument));
  // How functions and dates look as text is the engine's business.
  if (name !== "function" && name !== "date") {
    add(`group ${name}`, () => group(argument, () => 1));
    add(`page ${name}`, () => parseHTML(argument).text());
  }
  add(`user ${name}`, () => users[argument]);
  add(`tag ${name}`, () => {
    exec.vu.metrics.tags.own = argument;
    return exec.vu.metrics.tags.own;
  });
  add(`clear ${name}`, () => [clearTimeout(argument), clearInterval(argument)]);
  add(`timer of ${name}`, () => typeof setTimeout(argument, 0));
}
add("tags", () => [Object.keys(exec.vu.metrics.tags).sort(), delete exec.vu.metrics.tags.own, exec.vu.metrics.tags.own]);
add("new tags", () => {
  exec.vu.metrics.tags = { own: "1" };
});
for (const key of ["scenario", "instance", "test", "vu"]) add(`exec.${key}`, () => Object.keys(exec[key]).sort());
add("scenario in setup", () => exec.scenario.name);
add("startTime in setup", () => exec.scenario.startTime);
add("shared array", () => [
  users.length, Array.isArray(users), Object.keys(users), Object.entries(users), [...users], users.slice(1), users.concat([1]),
  users.map((user) => user.name), users.find((user) => user.name === "b"), users.at(-1), users.indexOf(3), users["1"], users[-1],
  users[1.5], String(users), JSON.stringify(users), Object.isFrozen(users[0]), 1 in users, 3 in users, "length" in users,
]);
add("loop over a shared array", () => {
  const keys = [];
  for (const key in users) keys.push(key);
  return keys;
});
for (const [name, change] of Object.entries({
  push: () => users.push(1), assign: () => (users[0] = 1), delete: () => delete users[0], length: () => (users.length = 0),
  inside: () => (users[0].name = "c"), deeper: () => users[1].tags.push("y"), reverse: () => users.reverse(),
})) {
  add(`${name} in a shared array`, change);
}

export async function setup() {
  const values = valuesOf(functions);
  const order = [];
  await new Promise((resolve) => {
    setTimeout(() => order.push("30 ms"), 30);
    setTimeout((...more) => order.push(`"10" ms ${more}`), "10", "a", "b");
    setTimeout(resolve, 90);
    setTimeout(() => {
      order.push("50 ms");
      Promise.resolve().then(() => order.push("promise of 50 ms"));
      setTimeout(() => order.push("20 ms later"), 20);
    }, 50);
    let ticks = 0;
    const interval = setInterval(() => {
      order.push(`tick ${(ticks += 1)}`);
      if (ticks === 2) clearInterval(interval);
    }, 20);
    clearTimeout(setTimeout(() => order.push("never"), 5));
    Promise.resolve().then(() => order.push("promise"));
    order.push("at once");
  });
  return { ...values, order };
}

export default function () {}
