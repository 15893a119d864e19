// files as texts and as bytes
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const values = valuesOf({
  text: () => open("../name.txt"),
  bytes: () => open("../name.txt", "b"),
  missing: () => open("../none.txt"),
  folder: () => open("../modules"),
  nothing: () => open(""),
});

export const setup = () => values;
export default function () {
  let late = "opened";
  try {
    open("../name.txt");
  } catch {
    late = "refused";
  }
  if (late !== "refused") throw new Error(late);
}
