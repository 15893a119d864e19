//! Checks: passed ones, failed ones with their numbers, and those without answers.

use crate::{
    Style,
    summary::{CheckResult, Group},
};

/// The checks of the root, then each group below its name, indented more than its parent.
pub(super) fn tree(root: &Group<'_>, style: Style) -> String {
    let mut blocks = Vec::new();
    add_blocks(root, 2, style, &mut blocks);
    blocks.join("\n")
}

fn add_blocks(group: &Group<'_>, indent: usize, style: Style, blocks: &mut Vec<String>) {
    if !group.checks.is_empty() {
        let lines = group.checks.iter().map(|check| lines(check, indent, 1, style));
        blocks.push(lines.collect());
    }
    for inner in &group.groups {
        blocks.push(format!("{}█ {}\n", " ".repeat(indent), inner.name));
        add_blocks(inner, indent + 2, style, blocks);
    }
}

/// All checks in one list.
pub(super) fn list(checks: &[CheckResult], indent: usize, style: Style) -> String {
    checks
        .iter()
        .map(|check| lines(check, indent, 2, style))
        .collect()
}

/// One line, and for a failed check one more with its figures, indented by this many columns.
fn lines(check: &CheckResult, indent: usize, further: usize, style: Style) -> String {
    let CheckResult {
        name, passes, fails, ..
    } = check;
    let [indent, further] = [indent, indent + further].map(|width| " ".repeat(width));
    match (passes, fails) {
        (0, 0) => format!("{indent}- {name} {}\n", style.faint("(never reached)")),
        (_, 0) => format!("{indent}{}\n", style.good(&format!("✓ {name}"))),
        _ => {
            // In a wider type, because a product of two counts may overflow theirs.
            let percent = u128::from(*passes) * 100 / (u128::from(*passes) + u128::from(*fails));
            let figures = format!("↳  {percent}% — ✓ {passes} / ✗ {fails}");
            format!(
                "{indent}{}\n{further}{}\n",
                style.bad(&format!("✗ {name}")),
                style.bad(&figures)
            )
        }
    }
}
