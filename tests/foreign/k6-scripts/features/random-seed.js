// a seed makes random numbers repeat
import { check, randomSeed } from "k6";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };
export default function () {
  const draw = () => {
    randomSeed(42);
    return [Math.random(), Math.random()].join();
  };
  check(draw(), { "repeats": (first) => first === draw(), "in range": (text) => text.split(",").every((value) => value >= 0 && value < 1) });
}
