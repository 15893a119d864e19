// Values of metrics for people.

/** A value in the unit of its metric. timeUnit is "s", "ms", "us", or nothing for the fitting one. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === "rate") {
    // Cut off, not rounded: 99.999 % must not read as 100 %.
    return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  }
  switch (metric.contains) {
    case "data":
      return humanizeBytes(value);
    case "time":
      return humanizeDuration(value, timeUnit);
    default:
      return rounded(value, 6);
  }
}

function humanizeBytes(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  if (Math.abs(bytes) < 10) {
    return `${rounded(bytes, 1)} B`;
  }
  const power = Math.min(Math.floor(Math.log10(Math.abs(bytes)) / 3), units.length - 1);
  const scaled = Math.round((bytes / 1000 ** power) * 10) / 10;
  return `${scaled.toFixed(Math.abs(scaled) < 10 ? 1 : 0)} ${units[power]}`;
}

function humanizeDuration(milliseconds, timeUnit) {
  switch (timeUnit) {
    case "s":
      return `${(milliseconds / 1000).toFixed(2)}s`;
    case "ms":
      return `${milliseconds.toFixed(2)}ms`;
    case "us":
      return `${(milliseconds * 1000).toFixed(2)}µs`;
    default:
      return fittingDuration(milliseconds);
  }
}

function fittingDuration(milliseconds) {
  if (milliseconds === 0) {
    return "0s";
  }
  if (milliseconds < 0.001) {
    return `${Math.trunc(milliseconds * 1_000_000)}ns`;
  }
  if (milliseconds < 1) {
    return `${truncated(milliseconds * 1000)}µs`;
  }
  if (milliseconds < 1000) {
    return `${truncated(milliseconds)}ms`;
  }
  const seconds = milliseconds / 1000;
  if (seconds < 60) {
    return `${truncated(seconds)}s`;
  }
  const whole = Math.trunc(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ""}${minutes}m${whole % 60}s`;
}

/** To this number of decimals, without zeros at the end. */
function rounded(value, decimals) {
  return String(Number(value.toFixed(decimals)));
}

/** Two decimals, cut off, without zeros at the end. */
function truncated(value) {
  // The sixth decimal is rounded first: 0.29 * 100 is 28.999999999999996.
  return String(Math.trunc(Number((value * 100).toFixed(6))) / 100);
}
