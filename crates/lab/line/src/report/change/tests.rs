//! Comparisons of searches on invented targets.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::{report::tests::report, search::Settings};

/// The JSON of a search with a target that holds up to this load.
fn kept(settings: Settings, capacity: u64, ceiling: u64) -> Value {
    report(settings, capacity, ceiling, 99).json()
}

fn found(capacity: u64) -> Value {
    kept(Settings::default(), capacity, u64::MAX)
}

fn change(before: &Value, after: &Value) -> Change {
    let [before, after] = [before, after].map(|json| Kept::read(&json.to_string()).unwrap());
    Change::new(&before, &after)
}

fn check(before: &Value, after: &Value, verdict: ChangeVerdict, expected: &Expect) {
    let change = change(before, after);
    assert_eq!(change.verdict, verdict, "{change:?}");
    expected.assert_eq(&change.sentence());
}

#[test]
fn lines_whose_intervals_do_not_overlap_differ() {
    use ChangeVerdict::{Better, Inconclusive, NoDifference, Worse};
    check(
        &found(2300),
        &found(1900),
        Worse,
        &expect!["worse: the line fell from 2,303 (2,212 to 2,369) to 1,904 (1,839 to 1,962) users, −17 %"],
    );
    check(
        &found(1900),
        &found(2300),
        Better,
        &expect!["better: the line rose from 1,904 (1,839 to 1,962) to 2,303 (2,212 to 2,369) users, +21 %"],
    );
    check(
        &found(1900),
        &found(1910),
        NoDifference,
        &expect![
            "no significant difference: the line was 1,904 (1,839 to 1,962) and is 1,904 (1,839 to 1,962) users; the intervals overlap"
        ],
    );
    check(
        &found(3),
        &found(2),
        Worse,
        &expect!["worse: the line fell from 3 to 2 users, −33 %"],
    );
    let up_to = |max, capacity| {
        kept(
            Settings {
                max,
                ..Settings::default()
            },
            capacity,
            u64::MAX,
        )
    };
    check(
        &up_to(1000, 2000),
        &found(500),
        Worse,
        &expect!["worse: the line fell from 1,000 or more to 498 (468 to 517) users"],
    );
    check(
        &found(500),
        &up_to(1000, 2000),
        Better,
        &expect!["better: the line rose from 498 (468 to 517) to 1,000 or more users"],
    );
    check(
        &up_to(1000, 2000),
        &found(1500),
        Inconclusive,
        &expect![
            "inconclusive: the line was 1,000 or more and is 1,500 (1,441 to 1,559) users; the intervals overlap because a search did not find its line"
        ],
    );
    check(
        &found(500),
        &kept(Settings::default(), 500, 100),
        Inconclusive,
        &expect![
            "inconclusive: the line was 498 (468 to 517) and is 98 or more users; the intervals overlap because a search did not find its line"
        ],
    );
    check(
        &found(500),
        &found(0),
        Worse,
        &expect!["worse: the line fell from 498 (468 to 517) to 0 users, −100 %"],
    );
    let few = Settings {
        max_steps: 12,
        ..Settings::default()
    };
    check(
        &found(500),
        &kept(few, 500, u64::MAX),
        Inconclusive,
        &expect![
            "inconclusive: the line was 498 (468 to 517) and is 357 or more users; the intervals overlap because a search did not find its line"
        ],
    );
    let more = Settings {
        max_steps: 18,
        ..Settings::default()
    };
    check(
        &found(5000),
        &kept(more, 500, u64::MAX),
        Worse,
        &expect!["worse: the line fell from 5,008 (4,837 to 5,264) to 498 (443 to 530) users, −90 %"],
    );
}

#[test]
fn searches_of_different_things_are_not_compared() {
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut json = found(100);
        edit(&mut json);
        json
    };
    let inconclusive = |after: &Value, expected: &Expect| {
        check(&found(500), after, ChangeVerdict::Inconclusive, expected);
        assert_eq!(change(&found(500), after).change, None);
    };
    inconclusive(
        &edited(&|it| it["unit"] = json!("rate")),
        &expect!["inconclusive: the loads have different units, users and per second"],
    );
    inconclusive(
        &edited(&|it| it["objectives"] = json!(["errors==0"])),
        &expect!["inconclusive: the objectives differ: rtt p(95)<500, errors==0 before, errors==0 after"],
    );
    // A search of version 1 has no interval.
    let old = edited(&|it| {
        it["version"] = json!(1);
        for key in ["interval", "fit"] {
            it["result"].as_object_mut().unwrap().remove(key);
        }
    });
    inconclusive(
        &old,
        &expect![
            "inconclusive: the search of 2026-11-22T10:00:00Z has no interval (Holds 97 to 106 users at rtt p(95)<500, errors==0 (90 %)); search again"
        ],
    );
}

#[test]
fn everything_for_people_and_machines() {
    let change = change(&found(2300), &found(1900));
    // The bars keep the indentation, which `expect!` removes where all lines have it.
    let barred: String = change.text().lines().map(|line| format!("|{line}\n")).collect();
    expect![[r#"
        |
        |  baseline   chat.js (2026-11-22T10:00:00Z)
        |  candidate  chat.js (2026-11-22T10:00:00Z)
        |
        |  worse: the line fell from 2,303 (2,212 to 2,369) to 1,904 (1,839 to 1,962) users, −17 %
    "#]]
    .assert_eq(&barred);
    expect![[r#"
        worse: the line fell from 2,303 (2,212 to 2,369) to 1,904 (1,839 to 1,962) users, −17 %

        | figure | baseline | candidate | verdict |
        |---|---|---|---|
        | load line (users) | 2,303 (2,212 to 2,369) | 1,904 (1,839 to 1,962) | worse |
    "#]]
    .assert_eq(&change.markdown());
    expect![[r#"
        {
          "verdict": "worse",
          "baseline": {
            "name": "chat.js",
            "started_at": "2026-11-22T10:00:00Z",
            "line": 2303,
            "low": 2212,
            "high": 2369
          },
          "candidate": {
            "name": "chat.js",
            "started_at": "2026-11-22T10:00:00Z",
            "line": 1904,
            "low": 1839,
            "high": 1962
          },
          "unit": "users",
          "change": -0.17325227963525835,
          "obstacles": []
        }"#]]
    .assert_eq(&format!("{:#}", serde_json::to_value(&change).unwrap()));
}
