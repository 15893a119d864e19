//! The tree of checks: what held, what did not and how often, what was never asked.

use crate::{Style, summary::CheckResult};

/// One line per check; failed ones have their figures on a second line.
pub(super) fn render(checks: &[CheckResult], style: Style) -> String {
    checks.iter().map(|check| line(check, style)).collect()
}

fn line(check: &CheckResult, style: Style) -> String {
    let CheckResult { name, passes, fails } = check;
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
