//! The catalogue: as many cases as Autobahn has, under its numbers, and no id twice.

use std::collections::BTreeMap;

use super::*;

fn counts(side: Side) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for planned in all(side, 1) {
        *counts.entry(planned.case.id.family().to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn the_families_of_autobahn_are_whole() {
    let expected = [
        ("1", 16),
        ("2", 11),
        ("3", 7),
        ("4", 10),
        ("5", 20),
        ("6", 145),
        ("7", 37),
        ("9", 54),
        ("10", 1),
        ("12", 90),
        ("13", 126),
    ];
    assert_eq!(expected.iter().map(|(_, n_cases)| n_cases).sum::<usize>(), 517);
    for side in [Side::Client, Side::Server] {
        let found = counts(side);
        for (family, n_cases) in expected {
            assert_eq!(found[family], n_cases, "{family} {side:?}");
        }
    }
}

#[test]
fn ids_are_unique_and_in_order_within_their_families() {
    for side in [Side::Client, Side::Server] {
        let planned = all(side, 1);
        let mut ids: Vec<&CaseId> = planned.iter().map(|planned| &planned.case.id).collect();
        let n_cases = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), n_cases);
        for planned in &planned {
            let Case { id, title, clause } = &planned.case;
            assert!(FAMILIES.iter().any(|(family, _)| *family == id.family()), "{id}");
            assert!(clause.starts_with("RFC "), "{id}: {clause}");
            assert!(title.len() < 160, "{id}: {title}");
        }
    }
}

#[test]
fn what_depends_on_the_side_is_for_that_side() {
    let has = |side, family: &str| counts(side).contains_key(family);
    assert!(has(Side::Client, "h") && !has(Side::Client, "r"));
    assert!(has(Side::Server, "r") && !has(Side::Server, "h"));
}
