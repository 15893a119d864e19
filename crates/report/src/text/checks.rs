//! The tree of checks: what held, what did not and how often, what was never asked.

use std::collections::BTreeMap;

use crate::{Style, summary::CheckResult};

/// One line per check, those of a group below its path; failed ones have their figures on a second line.
pub(super) fn render(checks: &[CheckResult], style: Style) -> String {
    let mut groups: BTreeMap<&str, String> = BTreeMap::new();
    for check in checks {
        groups
            .entry(&check.group)
            .or_default()
            .push_str(&line(check, style));
    }
    let sections = groups
        .into_iter()
        .map(|(path, lines)| match path.strip_prefix("::") {
            Some(path) => format!("  █ {}\n\n{lines}", path.replace("::", " › ")),
            None => lines,
        });
    sections.collect::<Vec<_>>().join("\n")
}

fn line(check: &CheckResult, style: Style) -> String {
    let CheckResult {
        name, passes, fails, ..
    } = check;
    match (passes, fails) {
        (0, 0) => format!("  - {name} {}\n", style.faint("(never reached)")),
        (_, 0) => format!("  {}\n", style.good(&format!("✓ {name}"))),
        _ => {
            let percent = passes * 100 / (passes + fails);
            let figures = format!("↳  {percent}% — ✓ {passes} / ✗ {fails}");
            format!(
                "  {}\n   {}\n",
                style.bad(&format!("✗ {name}")),
                style.bad(&figures)
            )
        }
    }
}
