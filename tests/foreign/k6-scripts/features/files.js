// a file that is read in parts by several users
import { open, SeekMode } from "k6/experimental/fs";
import { check } from "k6";
export { handleSummary } from "../data.js";

const file = await open("../name.txt");
export const options = { scenarios: { users: { executor: "per-vu-iterations", vus: 2, iterations: 2 } } };

export default async function () {
  const { size, name } = await file.stat();
  await file.seek(0, SeekMode.Start);
  const buffer = new Uint8Array(size + 10);
  const n = await file.read(buffer);
  check(n, { "as large as it says": (found) => found === size, "its name": () => name === "name.txt" });
  check(await file.read(buffer), { "no more": (found) => found === null });
}
