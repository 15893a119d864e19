// what the console shows of values of all kinds
export { handleSummary } from "../data.js";

const VALUES = [
  1, -0, 1.5, 1e21, NaN, Infinity, -Infinity, 10n, "text", "", true, null, undefined, Symbol("s"), [], [1, "a", null], {}, { a: { b: [1] } },
  new Error("broken"), new TypeError("wrong type"), new Map([["a", 1]]), new Set([1]), new Date(0), { at: new Date(0) }, /a/g, new Uint8Array([1, 2]).buffer, { bytes: new Uint8Array([1]).buffer }, new Uint8Array([3]),
];

export default function () {
  for (const value of VALUES) console.log(value);
  console.log("several", 1, { a: 1 }, [2]);
  console.info("info");
  console.warn("warning");
  console.error("error");
  console.debug("not shown");
  console.log();
}
