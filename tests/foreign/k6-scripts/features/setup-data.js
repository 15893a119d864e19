// what setup hands to users and to teardown
import { check } from "k6";
export { handleSummary } from "../data.js";
export const options = { vus: 2, iterations: 2 };
export const setup = () => ({ list: [1, { a: null }], nested: { text: "ü", undefined: undefined } });
export default function (data) {
  check(data, { "a list": ({ list }) => list[1].a === null });
  data.list.push("mine");
}
export function teardown(data) {
  check(data, { "is not changed": ({ list }) => list.length === 2 });
}
