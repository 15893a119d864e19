// Numbers as people read them: three digits that matter, a unit, and thousands apart.

/** What a number is, so how it is written. */
export type Unit =
    | "duration" // microseconds
    | "seconds"
    | "bytes"
    | "bytes/s"
    | "count"
    | "count/s"
    | "share" // 0 to 1
    | "cores"
    | "plain";

/** Any number that may be absent. */
export function format(value: number | null | undefined, unit: Unit): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    switch (unit) {
        case "duration":
            return duration(value);
        case "seconds":
            return seconds(value);
        case "bytes":
            return bytes(value);
        case "bytes/s":
            return `${bytes(value)}/s`;
        case "count":
            return count(value);
        case "count/s":
            return `${digits(value)}/s`;
        case "share":
            return share(value);
        case "cores":
            return cores(value);
        case "plain":
            return digits(value);
    }
}

/** The same, short enough for the tick of an axis: without what its title says. */
export function tick(value: number, unit: Unit): string {
    if (unit === "cores") return digits(value);
    if (unit === "count" || unit === "count/s" || unit === "plain") return compact(value);
    if (unit === "bytes/s") return bytes(value);
    if (unit === "seconds") return clock(value);
    return format(value, unit);
}

/** Microseconds: `850 µs`, `12.3 ms`, `1.5 s`, `2 min 5 s`. */
export function duration(us: number): string {
    if (us < 0) return `−${duration(-us)}`;
    if (us === 0) return "0 ms";
    if (us < 999.5) return `${digits(us)} µs`;
    if (us < 999_500) return `${digits(us / 1e3)} ms`;
    return seconds(us / 1e6);
}

/** A difference in microseconds, with its sign: `+1.2 ms`, `−850 µs`. */
export function signed(us: number): string {
    return `${us > 0 ? "+" : ""}${duration(us)}`;
}

/** Seconds: `0.4 s`, `20 s`, `23.6 s`, `1 min 30 s`, `1 h 2 min`. */
export function seconds(s: number): string {
    if (s < 59.95) return `${digits(s)} s`;
    const total = Math.round(s);
    const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
    const parts =
        hours > 0
            ? [
                  [hours, "h"],
                  [minutes, "min"],
              ]
            : [
                  [minutes, "min"],
                  [rest, "s"],
              ];
    return parts
        .filter(([value], at) => at === 0 || value !== 0)
        .map(([value, unit]) => `${value} ${unit}`)
        .join(" ");
}

/** Time since the start on an axis: `20 s`, `1:30`, `1:02:03`. */
export function clock(s: number): string {
    if (s < 60) return `${trim(s.toFixed(1))} s`;
    const total = Math.round(s);
    const two = (n: number) => String(n).padStart(2, "0");
    const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
    return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Bytes in powers of 1,000, as everywhere in Plimsoll. */
export function bytes(value: number): string {
    if (value < 0) return `−${bytes(-value)}`;
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let at = 0;
    while (value >= 999.5 && at + 1 < units.length) {
        value /= 1000;
        at += 1;
    }
    return `${at === 0 ? Math.round(value) : digits(value)} ${units[at]}`;
}

/** Events: whole numbers are written in full, `394,029`. */
export function count(value: number): string {
    return Number.isInteger(value) ? thousands(String(value)) : digits(value);
}

/** CPU time per second, to a hundredth of a core: what the system counts is no finer. */
export function cores(value: number): string {
    if (value > 0 && value < 0.005) return "< 0.01 cores";
    const text = value < 1 ? trim(value.toFixed(2)) : digits(value);
    return `${text} ${text === "1" ? "core" : "cores"}`;
}

/** A share in percent. Nearly all is never all: 99.999 % is not written as 100 %. */
export function share(value: number): string {
    const percent = value * 100;
    // The small amount heals shares such as 0.29, which is a little less in binary.
    const cut = Math.floor(percent * 100 + 1e-6) / 100;
    if (value > 0 && cut === 0) return "< 0.01 %";
    return `${trim(cut.toFixed(2))} %`;
}

/** Three digits that matter, without trailing zeros: `0.0123`, `1.23`, `12.3`, `123`, `12,345`. */
export function digits(value: number): string {
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-4) return String(Number(value.toPrecision(2)));
    const decimals = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(size))));
    const text = trim(value.toFixed(decimals)).replace("-", "−");
    return size >= 1000 ? thousands(text) : text;
}

/** `12k`, `3.4M`: for axes, where room is scarce. */
export function compact(value: number): string {
    const size = Math.abs(value);
    if (size < 10_000) return size >= 1000 ? thousands(digits(value).replaceAll(",", "")) : digits(value);
    if (size < 1e6) return `${digits(value / 1e3)}k`;
    if (size < 1e9) return `${digits(value / 1e6)}M`;
    return `${digits(value / 1e9)}G`;
}

function trim(text: string): string {
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function thousands(text: string): string {
    const [whole = "", fraction] = text.split(".");
    const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return fraction === undefined ? apart : `${apart}.${fraction}`;
}

/** A text in pieces: those at odd indexes are a number with its unit and stay on one line. */
export function unbroken(text: string): string[] {
    return text.split(/(\d[\d.,]* (?:µs|ms|s|min|h|B|kB|MB|GB|TB|PB|%|cores?|users?)(?![\w/]))/);
}

/** A command line that a shell reads as these words. */
export function shellCommand(words: string[]): string {
    return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** A point in time in the reader's own zone, with the zone: `22 Nov 2026, 11:41:02 UTC`. */
export function moment(rfc3339: string): string {
    const time = new Date(rfc3339);
    if (Number.isNaN(time.getTime())) return rfc3339;
    return new Intl.DateTimeFormat("en-GB", {
        day: "numeric",
        month: "short",
        year: "numeric",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
        timeZoneName: "short",
    }).format(time);
}

/** The words of a name, such as that of a metric, a file or a URL. Together they are the name. */
export function words(name: string): string[] {
    return name.split(/(?<=[_/:?&=,])(?=[^_/:?&=,])/);
}
