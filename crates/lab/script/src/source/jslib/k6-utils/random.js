// Random numbers, items and strings.

/** A whole number from min to max, both included. */
export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1)) + min;
}

/** One of the items. */
export function randomItem(items) {
  return items[Math.floor(Math.random() * items.length)];
}

/** A string of characters from a set. */
export function randomString(length, charset = "abcdefghijklmnopqrstuvwxyz") {
  let text = "";
  for (let n = 0; n < length; n += 1) {
    text += randomItem(charset);
  }
  return text;
}
