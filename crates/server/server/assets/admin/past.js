// The day of figures that the server keeps, for operators who come after the fact.

import { age, drawn, element } from "/admin/figures.js";

/** How often the server is asked for new points, which it adds four times a minute. */
const INTERVAL_MS = 15_000;
const HOUR_MS = 3_600_000;

/** The chosen part of the day. Without one, the page shows its own last minutes. */
export class Past {
  #hours = 0;
  #times = [];
  #figures = {};
  #interval_ms = 0;
  #askedAt = -Infinity;
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
    for (const button of document.querySelectorAll("#span button")) {
      button.addEventListener("click", () => this.#choose(button));
    }
  }

  /** Another process has no such past. */
  forget() {
    this.#times = [];
    this.#figures = {};
    this.#askedAt = -Infinity;
  }

  async #choose(button) {
    for (const other of document.querySelectorAll("#span button")) other.setAttribute("aria-pressed", String(other === button));
    this.#hours = Number(button.dataset.hours);
    try {
      await this.follow();
    } catch {
      // The page's own poll says that the server does not answer, and asks again.
    }
    this.#tell();
    this.#onChange();
  }

  /** Asks for the points that are new, as long as a part of the day is chosen. */
  async follow() {
    if (this.#hours === 0 || performance.now() - this.#askedAt < INTERVAL_MS) return;
    const response = await fetch(`/admin/history.json?after_ms=${this.#times.at(-1) ?? 0}`, { cache: "no-store" });
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    const { interval_ms, at_ms, figures } = await response.json();
    this.#interval_ms = interval_ms;
    this.#askedAt = performance.now();
    this.#times.push(...at_ms);
    for (const [name, values] of Object.entries(figures)) (this.#figures[name] ??= []).push(...values);
    this.#dropOld();
    this.#tell();
  }

  #dropOld() {
    const first = this.#times.findIndex((time) => time > Date.now() - 24 * HOUR_MS);
    if (first <= 0) return;
    this.#times.splice(0, first);
    for (const values of Object.values(this.#figures)) values.splice(0, first);
  }

  /** How much of what was asked for there is. */
  #tell() {
    const kept = this.#times.length > 0 ? `kept since ${new Date(this.#times[0]).toLocaleString()}` : "nothing is kept yet";
    document.getElementById("kept-since").textContent =
      this.#hours === 0 ? "" : `one point every ${age(this.#interval_ms / 1000)}, ${kept}`;
  }

  /** The line of a figure over the chosen hours, and its greatest value. Null: the page's own minutes are chosen. */
  line(name) {
    if (this.#hours === 0) return null;
    const span = this.#hours * HOUR_MS;
    const end = Math.max(Date.now(), this.#times.at(-1) ?? 0);
    const points = this.#times
      .map((time, n) => ({ time, x: 1000 * (1 - (end - time) / span), value: this.#figures[name]?.[n] ?? null }))
      .filter(({ x }) => x >= 0);
    const values = points.map(({ value }) => value).filter((value) => value !== null);
    const most = values.reduce((most, value) => Math.max(most, value), -Infinity);
    const height = (value) => (30 - (28 * value) / (most > 0 ? most : 1)).toFixed(1);
    const lines = unbroken(points, 2.5 * this.#interval_ms).map((part) => {
      const places = part.map(({ x, value }) => `${x.toFixed(1)},${height(value)}`);
      // A single point has no length.
      if (places.length === 1) places.push(`${(part[0].x + 1).toFixed(1)},${height(part[0].value)}`);
      return drawn("polyline", { points: places.join(" ") });
    });
    const svg = { viewBox: "0 0 1000 31", preserveAspectRatio: "none", role: "img", "aria-label": `the last ${this.#hours} hours` };
    const axis = element("div", { class: "axis" }, element("span", {}, `−${this.#hours} h`), element("span", {}, "now"));
    return { drawn: element("div", {}, drawn("svg", svg, ...lines), axis), most: values.length > 0 ? most : null };
  }
}

/** The runs of points that have a value and are no further apart than `gap` milliseconds. */
function unbroken(points, gap) {
  const parts = [];
  let last = null;
  for (const point of points) {
    if (point.value !== null) {
      if (last === null || point.time - last.time > gap) parts.push([]);
      parts.at(-1).push(point);
    }
    last = point.value === null ? null : point;
  }
  return parts;
}
