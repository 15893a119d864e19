//! The catalogue: as many cases as Autobahn has, under its numbers, and no id twice.

use std::collections::BTreeMap;

use super::*;
use crate::Level;

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
            assert!(clause.place.starts_with("RFC "), "{id}: {clause}");
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

/// The places that say MUST, or MUST NOT, to the target in its role. A place that is not here cannot make a target fail.
/// What each demands is in docs/reference/conform.md, Requirement levels.
const BINDING: &[&str] = &[
    "RFC 6455 §4.1",
    "RFC 6455 §4.1 (1)",
    "RFC 6455 §4.1 (2)",
    "RFC 6455 §4.1 (3)",
    "RFC 6455 §4.1 (4)",
    "RFC 6455 §4.1 (5)",
    "RFC 6455 §4.1 (6)",
    "RFC 6455 §4.1, RFC 9112 §4",
    "RFC 6455 §4.1, §4.2.2 (5)",
    "RFC 6455 §4.2.1 (1)",
    "RFC 6455 §4.2.1 (1), RFC 9110 §9.1",
    "RFC 6455 §4.2.1 (3)",
    "RFC 6455 §4.2.1 (4)",
    "RFC 6455 §4.2.1 (5)",
    "RFC 6455 §4.2.1 (6)",
    "RFC 6455 §4.2.1 (6), §4.3",
    "RFC 6455 §4.2.1, §4.2.2",
    "RFC 6455 §4.2.2",
    "RFC 6455 §4.2.2, §4.4",
    "RFC 6455 §4.2.2, §9",
    "RFC 6455 §4.2.2, RFC 9110 §5.1",
    "RFC 6455 §4.2.2, RFC 9112 §5",
    "RFC 6455 §5.1",
    "RFC 6455 §5.2",
    "RFC 6455 §5.3, §6.2",
    "RFC 6455 §5.4",
    "RFC 6455 §5.4, §5.5.2",
    "RFC 6455 §5.4, §6.2",
    "RFC 6455 §5.4, RFC 7692 §6.2",
    "RFC 6455 §5.5.1",
    "RFC 6455 §5.5.2",
    "RFC 6455 §5.5.3, §6.2",
    "RFC 6455 §6.1, §6.2",
    "RFC 6455 §6.2, RFC 7692 §6.2",
    "RFC 6455 §6.2, RFC 7692 §7.2.1",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.1",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.2",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.3",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.4",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.5",
    "RFC 6455 §6.2, RFC 7692 §7.2.3.6",
    "RFC 6455 §8.1",
    "RFC 6455 §8.1, RFC 3629 §3–4",
    "RFC 7692 §6",
    "RFC 7692 §7",
    "RFC 7692 §7.2.2",
    "RFC 9110 §5.5",
    "RFC 9110 §5.4",
    "RFC 9112 §2.2",
    "RFC 9112 §3.2",
    "RFC 9112 §3.2.2",
    "RFC 9112 §5.1",
    "RFC 9112 §5.2",
    "RFC 9112 §6.3",
    "RFC 9112 §9.3",
];

#[test]
fn only_places_that_say_must_to_the_target_can_make_it_fail() {
    let mut unused: Vec<_> = BINDING.to_vec();
    for side in [Side::Client, Side::Server] {
        for planned in all(side, 1) {
            let Case { id, clause, .. } = planned.case;
            if clause.level == Level::Must {
                assert!(BINDING.contains(&&*clause.place), "{id}: {clause}");
                unused.retain(|place| *place != clause.place);
            }
        }
    }
    assert_eq!(unused, [""; 0], "no case cites these");
}

/// What is checked on every connection cites its own clause, whatever the case is about.
#[test]
fn levels_of_well_known_cases() {
    let server = all(Side::Client, 1);
    let client = all(Side::Server, 1);
    for (planned, id, expected) in [
        (&server, "1.1.1", Level::Must),
        (&server, "2.5", Level::Should),
        (&server, "5.1", Level::Should),
        (&server, "5.9", Level::Should),
        (&server, "6.3.1", Level::Must),
        (&server, "7.9.1", Level::Should),
        (&server, "7.13.1", Level::Informational),
        (&server, "f.1.1", Level::Must),
        (&server, "f.2.1", Level::Should),
        (&server, "h.1.5", Level::May),
        (&server, "h.2.1", Level::Must),
        (&server, "h.3.3", Level::Should),
        (&server, "h.5.3", Level::May),
        (&server, "h.6.2", Level::Informational),
        (&server, "h.9.3", Level::Must),
        (&client, "f.1.1", Level::Must),
        (&client, "r.2.1", Level::Must),
        (&client, "r.2.6", Level::Should),
    ] {
        let found = planned.iter().find(|planned| planned.case.id.as_str() == id);
        assert_eq!(found.unwrap().case.clause.level, expected, "{id}");
    }
}
