//! Files are read with all their mistakes, changes are seen in both directions, and what is written is what was found.

use expect_test::{Expect, expect};
use plimsoll_report::Style;
use proptest::prelude::*;

use super::*;
use crate::{Case, results::tests::outcome};

const FILE: &str = "\
# The echo server of a tool,
# as server.

1.*    pass
1.2    non-strict   fails late
# In between.
2.1    pass/fail    drops the connection without a close frame
";

const IDS: [&str; 4] = ["1.1", "1.2", "1.3", "2.1"];

fn cases(ids: &[&'static str]) -> Vec<Case> {
    let case = |id: &&'static str| outcome(id, Verdict::Pass, "").case;
    ids.iter().map(case).collect()
}

/// Outcomes that are as the file says.
fn usual() -> Vec<Outcome> {
    let mut outcomes = vec![
        outcome("1.1", Verdict::Pass, "echoed"),
        outcome("1.2", Verdict::NonStrict, "failed late"),
        outcome("1.3", Verdict::Pass, ""),
        outcome("2.1", Verdict::Pass, "echoed"),
    ];
    outcomes[0].closing = Some(Verdict::Pass);
    outcomes[3].closing = Some(Verdict::Fail);
    outcomes
}

fn file() -> Expectations {
    Expectations::read("echo.txt", FILE).unwrap()
}

#[test]
fn of_several_lines_the_last_one_counts() {
    let file = file();
    let verdict = |id: &'static str| {
        file.of(&CaseId::new(id))
            .map(|entry| entry.verdicts().to_string())
    };
    assert_eq!(verdict("1.1").as_deref(), Some("pass"));
    assert_eq!(verdict("1.2").as_deref(), Some("non-strict"));
    assert_eq!(verdict("2.1").as_deref(), Some("pass/fail"));
    assert_eq!(verdict("2.2"), None);
}

#[test]
fn all_mistakes_are_told() {
    let text = "1.*\n2.*  ok\n  3.*  pass/okay\n4.* fail \n5.* pass\n\n5.* pass\n";
    let mistakes = Expectations::read("echo.txt", text).unwrap_err();
    expect![[r#"
        echo.txt:1:4: a case needs a verdict, for example `6.4.1 non-strict fails at the end of the message only`
        echo.txt:2:6: `ok` is not a verdict; expected one of pass, non-strict, informational, unimplemented, skipped, fail
        echo.txt:3:8: `okay` is not a verdict; expected one of pass, non-strict, informational, unimplemented, skipped, fail
        echo.txt:4:5: `fail` needs a sentence with the reason, for example `6.4.1 non-strict fails at the end of the message only`
        echo.txt:7:1: `5.*` is already in line 5; remove one of the two"#]]
    .assert_eq(&mistakes.to_string());
}

#[test]
fn changes_are_seen_in_both_directions() {
    let check = |change: fn(&mut Vec<Outcome>), expected: Expect| {
        let mut outcomes = usual();
        change(&mut outcomes);
        let comparison = file().compare(&cases(&IDS), &outcomes);
        expected.assert_eq(&comparison.text(Style::PLAIN));
    };
    check(
        |_| (),
        expect![[r#"
        as expected: 4 verdicts
    "#]],
    );
    check(
        |outcomes| {
            outcomes[0].closing = Some(Verdict::NonStrict);
            outcomes[1].verdict = Verdict::Pass;
            outcomes[2].verdict = Verdict::Fail;
            outcomes[2].explanation = "expected an echo, got nothing".to_owned();
            outcomes[3].closing = None;
        },
        expect![[r#"
            4 changes against the expectations; as expected: 0 verdicts
              worse   1.1: expected pass, got pass/non-strict: echoed
              better  1.2: expected non-strict (fails late), got pass: failed late
              worse   1.3: expected pass, got fail: expected an echo, got nothing
              better  2.1: expected pass/fail (drops the connection without a close frame), got pass: echoed
        "#]],
    );
    check(
        |outcomes| outcomes.push(outcome("3.1", Verdict::Pass, "")),
        expect![[r#"
            1 change against the expectations; as expected: 4 verdicts
              new     3.1: pass, without an expectation
        "#]],
    );
    // Not run, not judged.
    check(
        |outcomes| outcomes.truncate(1),
        expect![[r#"
        as expected: 1 verdict
    "#]],
    );
}

#[test]
fn lines_without_cases_are_changes() {
    let comparison = file().compare(&cases(&["1.1", "1.3"]), &[]);
    expect![[r#"
        2 changes against the expectations; as expected: 0 verdicts
          gone    1.2: the suite has no such case
          gone    2.1: the suite has no such case
    "#]]
    .assert_eq(&comparison.text(Style::PLAIN));
}

#[test]
fn sentences_stay_while_their_verdicts_do() {
    let mut outcomes = usual();
    outcomes[0].verdict = Verdict::Fail;
    outcomes[0].explanation = "expected an echo,\n got nothing".to_owned();
    outcomes[2].verdict = Verdict::NonStrict;
    outcomes[2].explanation = "other words".to_owned();
    outcomes.truncate(3);
    let updated = file().updated(&cases(&IDS), &outcomes);
    expect![[r#"
        # The echo server of a tool,
        # as server.

        1.1  fail            expected an echo, got nothing
        1.2  non-strict      fails late
        1.3  non-strict      other words
        2.1  pass/fail       drops the connection without a close frame
    "#]]
    .assert_eq(&updated.to_string());
}

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    const IDS: [&str; 12] = [
        "1.1",
        "1.2",
        "1.3",
        "2.1",
        "10.1",
        "10.2",
        "cable/ping",
        "cable/a/1",
        "cable/a/2",
        "cable/b/1",
        "cable/b/2",
        "single",
    ];
    let verdict = || (0..Verdict::ALL.len()).prop_map(|at| Verdict::ALL[at]);
    let one = (
        verdict(),
        proptest::option::of(verdict()),
        "[ab \n]{0,3}",
        any::<bool>(),
    );
    proptest::collection::vec(one, IDS.len()).prop_map(|all| {
        let outcomes = IDS.into_iter().zip(all);
        let run = outcomes.filter(|(_, (.., is_run))| *is_run);
        run.map(|(id, (verdict, closing, explanation, _))| Outcome {
            closing,
            ..outcome(id, verdict, &explanation)
        })
        .collect()
    })
}

proptest! {
    /// Whatever was expected before: what is written holds of what was found, and says the same of what was not run.
    #[test]
    fn what_is_written_holds(before in outcomes(), now in outcomes()) {
        let all: Vec<_> = before.iter().chain(&now).map(|outcome| outcome.case.clone()).collect();
        let mut all: Vec<Case> = all;
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.dedup_by(|a, b| a.id == b.id);
        let old = Expectations::default().updated(&all, &before);
        let text = old.updated(&all, &now).to_string();
        let new = Expectations::read("file", &text).unwrap();
        prop_assert!(new.compare(&all, &now).changes.is_empty(), "{}", text);
        let is_left = |outcome: &&Outcome| !now.iter().any(|other| other.case.id == outcome.case.id);
        for outcome in before.iter().filter(is_left) {
            let id = &outcome.case.id;
            let said = |file: &Expectations| file.of(id).map(|entry| (entry.verdicts(), entry.reason.clone()));
            prop_assert_eq!(said(&new), said(&old));
        }
    }
}
