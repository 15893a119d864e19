//! The curve of steps that differ.

use expect_test::expect;

use super::*;
use crate::{
    report::tests::{report, step},
    search::Settings,
};

/// A curve of steps at these loads, each with its value.
fn curve_of(steps: &[(u64, Option<f64>, Vote)]) -> String {
    let mut report = report(Settings::default(), 0, 0, 0);
    report.steps = steps
        .iter()
        .map(|(load, value, vote)| {
            let mut step = step(*load, *vote);
            step.objectives[0].value = *value;
            step.objectives[0].shown = value.map_or_else(|| "–".to_owned(), |value| format!("{value}ms"));
            step
        })
        .collect();
    curve(&report)
}

#[test]
fn a_load_shows_the_middle_one_of_its_steps() {
    use Vote::{Broke, Generator, Held};
    expect![[r#"

        users, rtt p(95)<500
              5    0ms
             10    6ms   ██▍
             20   50ms ✗ ████████████████████
          1,000  100ms   ████████████████████████████████████████

    "#]]
    .assert_eq(&curve_of(&[
        (5, Some(0.0), Held),
        (10, Some(9.0), Held),
        (10, Some(5.0), Held),
        (10, Some(6.0), Broke),
        (20, Some(50.0), Held),
        (20, Some(40.0), Generator),
        (1_000, Some(100.0), Held),
        (2_000, None, Broke),
    ]));
}

#[test]
fn a_curve_takes_two_loads() {
    use Vote::Held;
    for (steps, is_empty) in [
        (&[][..], true),
        (&[(10, Some(1.0), Held), (10, Some(2.0), Held)], true),
        (&[(10, Some(1.0), Held), (20, None, Held)], true),
        (&[(10, Some(1.0), Held), (20, Some(2.0), Held)], false),
        (&[(10, Some(0.0), Held), (20, Some(0.0), Held)], false),
    ] {
        assert_eq!(curve_of(steps).is_empty(), is_empty, "{steps:?}");
    }
    assert!(!curve_of(&[(10, Some(0.0), Held), (20, Some(0.0), Held)]).contains(['█', '▏']));
}

#[test]
fn bars_have_eighths_of_a_column() {
    for (share, expected) in [
        (0.0, String::new()),
        (-1.0, String::new()),
        (1.0 / 320.0, "▏".to_owned()),
        (7.0 / 320.0, "▉".to_owned()),
        (8.0 / 320.0, "█".to_owned()),
        (0.5, "█".repeat(20)),
        (1.0, "█".repeat(40)),
        (2.0, "█".repeat(40)),
    ] {
        assert_eq!(bar(share, LONGEST), expected, "{share}");
    }
}
