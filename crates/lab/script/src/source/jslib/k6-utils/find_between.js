// Texts between two other texts.

/** The first text between left and right, "" if there is none; all of them in an array when repeat is true. */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let from = content.indexOf(left);
  while (from !== -1) {
    const start = from + left.length;
    const end = content.indexOf(right, start);
    if (end === -1) {
      break;
    }
    found.push(content.slice(start, end));
    if (!repeat) {
      break;
    }
    // At least one further, so that empty delimiters come to an end.
    from = content.indexOf(left, Math.max(end + right.length, from + 1));
    if (from >= content.length) {
      break;
    }
  }
  return repeat ? found : (found[0] ?? "");
}
