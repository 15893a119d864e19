//! Summaries with senseless numbers, as from a file that was edited or half overwritten. Reading one is an error or
//! gives a summary; no report of it panics.

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::*;
use crate::{
    Layout, Style, SummaryMode, agents,
    comparison::{Comparison, Runs, Terms, tests::made_up},
    html, markdown,
};

/// What a number, a text or a list may be instead.
fn replacements() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(7),
        json!(0.5),
        json!(4_000_000_000_u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(-1e308),
        json!(1e-320),
        Value::Null,
        json!([]),
        json!([1, 2, 3]),
        json!([[4_000_000_000_u64, 1], [5, u64::MAX]]),
        json!(""),
        json!("é\u{0}"),
    ]
}

/// Paths of all values, as JSON pointers.
fn pointers(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(entries) => entries
            .iter()
            .for_each(|(name, value)| pointers(value, &format!("{path}/{}", escaped(name)), found)),
        Value::Array(elements) => (0..)
            .zip(elements)
            .for_each(|(n, value)| pointers(value, &format!("{path}/{n}"), found)),
        _ => {}
    }
}

/// Makes every report from summaries.
fn report_all(summary: &Summary, other: &Summary) {
    let style = Style::PLAIN;
    let mut comparisons = Vec::new();
    for (one, another) in [(summary, other), (other, summary)] {
        let side = |summaries| Runs {
            label: "a run",
            summaries,
        };
        comparisons.extend(Comparison::new(side(&[one]), side(&[another]), Terms::default()));
    }
    let _page = html::page(&[summary, other], &comparisons);
    let _table = markdown::page(summary);
    let _text = summary.text(style);
    for mode in [SummaryMode::Compact, SummaryMode::Full, SummaryMode::Legacy] {
        let _text = summary.end_of_test(
            Layout {
                mode,
                time_unit: None,
            },
            style,
        );
    }
    let _texts = (
        summary.export(None),
        summary.machine_readable(""),
        crate::json(summary),
    );
}

fn seeds() -> [Summary; 2] {
    let with_histograms = summary(&run()).with_agents(agents::tests::three());
    [with_histograms, made_up(1.0, 1)]
}

fn check(changes: &[(Index, Index)], seed: usize) {
    let original = &seeds()[seed];
    let mut value = serde_json::to_value(original).unwrap();
    let mut found = Vec::new();
    pointers(&value, "", &mut found);
    for (place, replacement) in changes {
        let pointer = place.get(&found);
        if let Some(place) = value.pointer_mut(pointer).filter(|_| !pointer.is_empty()) {
            *place = replacement.get(&replacements()).clone();
        }
    }
    if let Ok(damaged) = Summary::read(&value.to_string()) {
        report_all(&damaged, original);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_in_a_summary_panics_its_reports(
        changes in prop::collection::vec(any::<(Index, Index)>(), 1..4),
        seed in 0_usize..2,
    ) {
        check(&changes, seed);
    }
}

/// One number after the other; of the elements of a list the first two, of which the others are repetitions.
#[test]
fn every_number_may_be_anything() {
    let is_among_first = |pointer: &str| {
        let mut positions = pointer.split('/').filter_map(|part| part.parse::<u32>().ok());
        positions.all(|position| position < 2)
    };
    for original in &seeds() {
        let value = serde_json::to_value(original).unwrap();
        let mut found = Vec::new();
        pointers(&value, "", &mut found);
        found.retain(|pointer| {
            value.pointer(pointer).is_some_and(Value::is_number) && is_among_first(pointer)
        });
        for pointer in &found {
            for replacement in [json!(0), json!(1_u64 << 53), json!(-1), json!(1e308)] {
                let mut changed = value.clone();
                *changed.pointer_mut(pointer).unwrap() = replacement;
                if let Ok(damaged) = Summary::read(&changed.to_string()) {
                    report_all(&damaged, original);
                }
            }
        }
    }
}
