// names that a group may not have
import { group } from "k6";
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

export const setup = () => valuesOf({
  "with separators": () => group("a::b", () => 1),
  "empty": () => group("", () => 1),
  "without a function": () => group("x"),
});
export default function () {}
