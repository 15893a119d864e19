// Files and modules that this module reads for itself, and a file that it reads for others.

export const text = open("./name.txt");
export const texts = ["./name.txt"].map((path) => open(path));
export const neighbour = require("./neighbour.js");
export const resolved = import.meta.resolve("./name.txt").split("/").slice(-2).join("/");

export function read(path) {
  return open(path);
}

export function place() {
  return require("./neighbour.js").place;
}
