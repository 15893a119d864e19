// What the pages of the server have in common: figures in words, and small drawings of them.

/** A line is drawn for so many values at least, so that the first looks are no wild zigzag. */
const MIN_SHOWN = 15;

const plain = (n) => n.toLocaleString("en", { maximumFractionDigits: n < 10 ? 1 : 0 });
/** Numbers of things; great ones as 120K. */
export function count(n) {
  return n < 1e5 ? plain(n) : n.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
}
export const each = (n) => `${count(n)}/s`;
export function bytes(n) {
  const power = n < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  return `${plain(n / 1000 ** power)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}
export function seconds(s) {
  if (s < 0.001) return `${plain(s * 1e6)} µs`;
  if (s < 1) return `${plain(s * 1e3)} ms`;
  return `${plain(s)} s`;
}
export function age(s) {
  if (s < 120) return `${Math.floor(s)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} days`;
}

/** Within a bucket a straight line is assumed, as Prometheus does; beyond the last bound there is only the bound. */
export function quantile(counts, bounds, q) {
  const rank = q * counts.reduce((sum, n) => sum + n, 0);
  if (rank === 0) return null;
  let below = 0;
  for (const [bucket, n] of counts.entries()) {
    if (below + n >= rank) {
      if (bucket === bounds.length) return bounds.at(-1);
      const low = bucket === 0 ? 0 : bounds[bucket - 1];
      return low + (bounds[bucket] - low) * ((rank - below) / n);
    }
    below += n;
  }
  return bounds.at(-1);
}

/** An element with text or children; what comes from outside is only ever text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A figure with its past; null is not a value. The line is that of the values, unless there is another one. */
export function tile(title, values, write, past) {
  const value = values.at(-1);
  const shown = value === null || value === undefined ? "–" : write(value);
  const parts = [element("h3", {}, title), element("output", {}, shown), past ? past.drawn : line(values)];
  if (past) parts.push(element("small", {}, past.most === null ? "no value" : `at most ${write(past.most)}`));
  return element("div", { class: "tile" }, ...parts);
}

/** A line through all values that are there, from zero to the greatest; the newest is at the right. */
function line(values) {
  const most = Math.max(...values, 0) || 1;
  const width = Math.max(values.length, MIN_SHOWN) - 1;
  const points = values.flatMap((value, n) => {
    const x = width - (values.length - 1) + n;
    return value === null ? [] : [`${x},${(30 - (28 * value) / most).toFixed(1)}`];
  });
  const svg = { viewBox: `0 0 ${width} 31`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return drawn("svg", svg, drawn("polyline", { points: points.join(" ") }));
}
