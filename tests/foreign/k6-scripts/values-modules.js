// Which files and modules relative paths name in a module of another folder.

import { neighbour, place, read, resolved, text, texts } from "./modules/reader.js";
import { valuesOf } from "./values.js";

const own = require("./neighbour.js");
const readForScript = read("./name.txt");
const placeForScript = place();
const refusals = ["k6/http", "bare", ""].map((specifier) => {
  try {
    return import.meta.resolve(specifier);
  } catch {
    return "an exception";
  }
});

export const options = { iterations: 1 };

export function setup() {
  return valuesOf({
    text: () => text,
    texts: () => texts,
    neighbour: () => [neighbour.place, neighbour.text],
    own: () => [own.place, own.text],
    readForScript: () => readForScript,
    placeForScript: () => placeForScript,
    resolved: () => resolved,
    url: () => import.meta.resolve("https://example.com/a.js"),
    refusals: () => refusals,
  });
}

export default function () {}

export { handleSummary } from "./data.js";
