// Light and dark: the system's choice until the reader makes one, and the colours that canvases need.

import { h, svg } from "./dom.ts";
import type { Ink } from "./ink.ts";

export type Theme = "light" | "dark";

const KEY = "plimsoll-theme";

/** The colours of the current theme, from the style sheet, where they are defined for both. */
export interface Palette {
    text: string;
    muted: string;
    grid: string;
    surface: string;
    color(name: Ink): string;
    /** From the coolest to the hottest. */
    heat: string[];
}

let cached: Palette | null = null;

export function palette(): Palette {
    cached ??= read();
    return cached;
}

function read(): Palette {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => sixDigits(style.getPropertyValue(`--${name}`).trim());
    const colors = new Map<string, string>();
    return {
        text: of("text"),
        muted: of("muted"),
        grid: of("grid"),
        surface: of("surface"),
        color(name) {
            const known = colors.get(name) ?? of(name);
            colors.set(name, known);
            return known;
        },
        heat: style
            .getPropertyValue("--heat")
            .split(",")
            .map((color) => color.trim()),
    };
}

/** `#fff` in full, so that two digits of opacity can follow. */
function sixDigits(color: string): string {
    return /^#[0-9a-f]{3}$/i.test(color) ? color.replaceAll(/[0-9a-f]/gi, "$&$&") : color;
}

const listeners = new Set<() => void>();

/** Calls back whenever colours have changed. */
export function onThemeChange(listener: () => void): void {
    listeners.add(listener);
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

function systemTheme(): Theme {
    return DARK.matches ? "dark" : "light";
}

/** Pages from disk may not be allowed to remember. */
function remembered(): string | null {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

function remember(theme: Theme): void {
    try {
        localStorage.setItem(KEY, theme);
    } catch {
        // The choice lasts as long as the page.
    }
}

/** What the reader chose, if anything. */
let chosen: Theme | null = null;

function current(): Theme {
    return chosen ?? systemTheme();
}

function apply(theme: Theme): void {
    document.documentElement.dataset["theme"] = theme;
    cached = null;
    for (const listener of listeners) listener();
}

/** Applies what was remembered, follows the system and the printer, and gives the button that switches. */
export function themeSwitch(): HTMLElement {
    const known = remembered();
    chosen = known === "light" || known === "dark" ? known : null;
    const face = svg(
        "svg",
        { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true" },
        svg("circle", { cx: 12, cy: 12, r: 8.5, fill: "none", stroke: "currentColor", "stroke-width": 2 }),
        svg("path", { d: "M12 3.5a8.5 8.5 0 0 1 0 17z", fill: "currentColor" }),
    );
    const button = h("button", { type: "button", class: "icon-button" }, face);
    const show = () => {
        apply(current());
        const label = `Switch to ${current() === "dark" ? "light" : "dark"} colours`;
        button.setAttribute("aria-label", label);
        button.title = label;
    };
    button.addEventListener("click", () => {
        chosen = current() === "dark" ? "light" : "dark";
        remember(chosen);
        show();
    });
    DARK.addEventListener("change", show);
    // Paper is white.
    addEventListener("beforeprint", () => {
        document.documentElement.classList.add("printing");
        apply("light");
    });
    addEventListener("afterprint", () => {
        document.documentElement.classList.remove("printing");
        show();
    });
    show();
    return button;
}
