// records of a file, one after the other
import csv from "k6/experimental/csv";
import { open } from "k6/experimental/fs";
import { check } from "k6";
export { handleSummary } from "../data.js";

const file = await open("../records.csv");
const records = await csv.parse(await open("../records.csv"), { skipFirstLine: true });
const parser = new csv.Parser(file, { skipFirstLine: true });
export const options = { iterations: 1 };

export default async function () {
  let n = 0;
  for (;;) {
    const { done, value } = await parser.next();
    if (done) break;
    check(value, { "the same": (found) => found.join() === [...records[n]].join() });
    n += 1;
  }
  check(n, { "all": (found) => found === records.length });
}
