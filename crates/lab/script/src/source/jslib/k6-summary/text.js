// The summary that k6 printed before its version 1.

const COLORS = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };

/** The tree of checks, and a line for every metric. Options: indent (" "), enableColors (true), summaryTimeUnit, summaryTrendStats. */
export function textSummary(data, options = {}) {
  const settings = { indent: " ", enableColors: true, ...data.options, ...options };
  const paint = settings.enableColors ? (text, color) => `\x1b[${COLORS[color]}m${text}\x1b[0m` : (text) => text;
  const lines = [
    ...groupLines(`${settings.indent}    `, data.root_group, paint),
    ...metricLines(`${settings.indent}  `, data.metrics, settings, paint),
  ];
  return lines.join("\n");
}

function groupLines(indent, group, paint) {
  const lines = [];
  let inner = indent;
  if (group.name !== "") {
    lines.push(`${indent}${paint(`█ ${group.name}`, "bold")}`, "");
    inner += "  ";
  }
  for (const check of listed(group.checks)) {
    lines.push(...checkLines(inner, check, paint));
  }
  if (listed(group.checks).length > 0) {
    lines.push("");
  }
  for (const child of listed(group.groups)) {
    lines.push(...groupLines(inner, child, paint));
  }
  return lines;
}

/** Groups and checks are arrays here, and objects in what handleSummary of older versions got. */
function listed(items) {
  return Object.values(items ?? {});
}

function checkLines(indent, check, paint) {
  if (check.fails === 0) {
    return [`${indent}${paint(`✓ ${check.name}`, "green")}`];
  }
  const percent = Math.floor((100 * check.passes) / (check.passes + check.fails));
  const details = `↳  ${percent}% — ✓ ${check.passes} / ✗ ${check.fails}`;
  return [`${indent}${paint(`✗ ${check.name}`, "red")}`, `${indent} ${paint(details, "red")}`];
}

function metricLines(indent, metrics, settings, paint) {
  const rows = Object.entries(metrics)
    .filter(([, metric]) => metric?.values)
    .map(([name, metric]) => ({ ...label(name), metric, ...columns(metric, settings) }))
    .sort((one, other) => compare(one.parent, other.parent) || compare(one.name, other.name));
  const labelWidth = Math.max(0, ...rows.map((row) => row.label.length)) + 3;
  const widths = { values: columnWidths(rows, "values"), trend: columnWidths(rows, "trend") };
  return rows.map((row) => {
    const dots = paint(`${".".repeat(labelWidth - row.label.length)}:`, "faint");
    const cells = [...aligned(row.values, widths.values, paint), ...aligned(row.trend, widths.trend, paint)];
    return `${indent}${mark(row.metric, paint)} ${row.label}${dots} ${cells.join(" ")}`.trimEnd();
  });
}

/** A metric with tags is listed below its parent, by its tags. */
function label(name) {
  const [parent, tags] = name.split(/(?=\{)/, 2);
  return { name, parent, label: tags ? `  { ${tags.slice(1, -1)} }` : name };
}

function compare(one, other) {
  return one < other ? -1 : Number(one > other);
}

function mark(metric, paint) {
  const thresholds = listed(metric.thresholds);
  if (thresholds.length === 0) {
    return " ";
  }
  return thresholds.every((threshold) => threshold.ok) ? paint("✓", "green") : paint("✗", "red");
}

/** The cells behind a metric's name, as pairs of what is plain and what is a value. */
function columns(metric, settings) {
  const { values } = metric;
  const human = (value, as = metric) => humanizeValue(value, as, settings.summaryTimeUnit);
  switch (metric.type) {
    case "counter":
      return { values: [["", human(values.count)], ["", `${human(values.rate)}/s`]], trend: [] };
    case "gauge":
      return {
        values: [["", human(values.value)], ["min=", human(values.min)], ["max=", human(values.max)]],
        trend: [],
      };
    case "rate":
      return { values: [["", human(values.rate)], ["✓ ", `${values.passes}`], ["✗ ", `${values.fails}`]], trend: [] };
    default:
      return { values: [], trend: trendCells(values, settings, human) };
  }
}

function trendCells(values, settings, human) {
  const names = settings.summaryTrendStats ?? Object.keys(values);
  const known = names.filter((name) => typeof values[name] === "number");
  return known.map((name) => [`${name}=`, human(values[name], name === "count" ? {} : undefined)]);
}

function columnWidths(rows, kind) {
  const widths = [];
  for (const row of rows) {
    for (const [index, [before, value]] of row[kind].entries()) {
      widths[index] = Math.max(widths[index] ?? 0, before.length + value.length);
    }
  }
  return widths;
}

function aligned(cells, widths, paint) {
  return cells.map(([before, value], index) => {
    const text = `${before}${paint(value, "cyan")}`;
    return index === cells.length - 1 ? text : text + " ".repeat(widths[index] - before.length - value.length);
  });
}
