/** The id of a heading, as forges form it: the same links work on both. */
export const anchorOf = (heading) =>
  [...heading]
    .map((character) => (character === " " ? "-" : /[-_\p{Letter}\p{Number}]/u.test(character) ? character : ""))
    .join("")
    .toLowerCase();
