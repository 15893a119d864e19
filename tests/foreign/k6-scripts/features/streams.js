// a stream that is made step by step
import { ReadableStream } from "k6/experimental/streams";
import { check } from "k6";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };

export default async function () {
  let n = 0;
  const stream = new ReadableStream({
    pull(controller) {
      n += 1;
      if (n > 3) controller.close();
      else controller.enqueue(n);
    },
  });
  const reader = stream.getReader();
  const values = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    values.push(value);
  }
  check(values, { "all": (found) => found.join() === "1,2,3" });
}
