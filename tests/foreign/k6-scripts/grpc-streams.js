// Streams in all directions, their events and their metrics.

import { check, sleep } from "k6";
import { Client, Stream, StatusAborted } from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new Client();
client.load(["protos"], "laboratory.proto");

export const options = {
  summaryTrendStats: ["count", "max"],
  vus: 2,
  iterations: 4,
  thresholds: {
    grpc_streams: ["count==20"],
    "grpc_streams{method:Count}": ["count==8"],
    "grpc_streams{own:yes}": ["count==4"],
    grpc_streams_msgs_sent: ["count==32"],
    grpc_streams_msgs_received: ["count==84"],
    "grpc_streams_msgs_received{method:Chat}": ["count==8"],
    "grpc_req_duration{method:Chat,status:10}": ["max>=0"],
    "grpc_req_duration{method:Sum,status:0}": ["max>=0"],
  },
};

/** Opens a stream and resolves to its events in their order. */
function eventsOf(method, messages, params) {
  return new Promise((resolve) => {
    const stream = new Stream(client, `laboratory.Laboratory/${method}`, params);
    const events = [];
    stream.on("data", (message, { ts }) => {
      if (Math.abs(ts - Date.now() / 1000) > 60) events.push(`an event of ${ts}`);
      events.push(message);
    });
    stream.on("error", ({ code, message }) => events.push({ code: Number(code), message }));
    stream.on("end", () => {
      events.push("end");
      resolve(events);
    });
    for (const message of messages) stream.write(message);
    stream.end();
    stream.write({ name: "too late" });
  });
}

const same = (found, expected) => JSON.stringify(found) === JSON.stringify(expected);

export default async function () {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const numbers = await eventsOf("Count", [{ n: 15 }], { tags: { own: "yes" } });
  check(numbers, {
    "numbers arrive in their order": (events) => events.length === 16 && events.every((event, index) => index === 15 || event.value === String(index + 1)),
    "the end is the last event": (events) => events[15] === "end",
  });
  const sum = await eventsOf("Sum", [{ value: 1 }, { value: "2" }, { value: -10 }]);
  check(sum, { "numbers are added": (events) => same(events, [{ value: "-7" }, "end"]) });
  const chat = await eventsOf("Chat", [{ name: "a" }, { name: "b" }]);
  check(chat, { "each greeting is answered": (events) => same(events, [{ name: "hello a" }, { name: "hello b" }, "end"]) });
  const failed = await eventsOf("Chat", [{ name: "fail" }]);
  check(failed, { "a failure has its code": (events) => same(events, [{ code: Number(StatusAborted), message: "as told" }, "end"]) });
  const discarded = await eventsOf("Count", [{ n: 3 }], { discardResponseMessage: true });
  check(discarded, { "messages are discarded": (events) => same(events, [{}, {}, {}, "end"]) });
  sleep(0.01);
  client.close();
}
