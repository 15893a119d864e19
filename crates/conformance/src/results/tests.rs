//! Results for tests of every form: all verdicts, and a target that writes forbidden characters.

use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::{Case, CaseId, Clause, Level, Score};

/// Titles of families.
const FAMILIES: [(&str, &str); 2] = [("1", "Framing"), ("2", "Pings & pongs")];

pub(crate) fn outcome(id: &'static str, verdict: Verdict, explanation: &str) -> Outcome {
    // Read from a file, so that its times are the same every time.
    let wire = r#"{"first": [{"at": 0, "side": "sent", "what": "ping"},
                             {"at": 0.0123, "side": "received", "what": "<b>\u001b[31m"},
                             {"at": 0.5, "side": "note", "what": "the time is up"}]}"#;
    let case = Case {
        id: CaseId::new(id),
        title: format!("does what {id} says").into(),
        clause: Clause::must("RFC 6455 §5.2"),
    };
    Outcome {
        verdict,
        seconds: 0.25,
        wire: serde_json::from_str(wire).unwrap(),
        ..Outcome::skipped(case, explanation)
    }
}

/// Results with one outcome of each verdict.
pub(crate) fn sample() -> Results {
    let mut outcomes = vec![
        outcome("1.1", Verdict::Pass, "echoed"),
        outcome(
            "1.2",
            Verdict::Fail,
            "expected the same back, got \"<script>\" & nothing else",
        ),
        outcome("1.10", Verdict::NonStrict, "failed late"),
        outcome("2.1", Verdict::Informational, "closed with 1000"),
        outcome("2.2", Verdict::Unimplemented, "the server does not compress"),
        outcome("2.3", Verdict::Skipped, "there is no TLS here"),
        outcome("2.4", Verdict::Pass, "the connection was dropped"),
        outcome("other/a", Verdict::Pass, "fine"),
    ];
    outcomes[2].case.clause.level = Level::Should;
    outcomes[3].score = Some(Score { kept: 2, of: 3 });
    outcomes[6].closing = Some(Verdict::Fail);
    let target = Target {
        name: "echo <em>".to_owned(),
        url: "ws://127.0.0.1:9001/?a&b".to_owned(),
        version: Some("1.0".to_owned()),
    };
    let started = UNIX_EPOCH + Duration::from_secs(1_795_290_543);
    let mut results = Results::new("websocket server", &FAMILIES, target, started, 2.5, outcomes);
    results.tester = "plimsoll 0.0.0".to_owned();
    results
}

#[test]
fn families_have_their_titles_and_counts() {
    let results = sample();
    let families: Vec<_> = results
        .by_family()
        .into_iter()
        .map(|family| (family.name, family.title, Counts::of(family.outcomes).in_words()))
        .collect();
    let expected = [
        ("1", "Framing", "1 pass, 1 non-strict, 1 fail"),
        (
            "2",
            "Pings & pongs",
            "1 informational, 1 unimplemented, 1 skipped, 1 fail",
        ),
        ("other", "", "1 pass"),
    ];
    assert_eq!(
        families,
        expected.map(|(name, title, counts)| (name, title, counts.to_owned()))
    );
    assert!(results.has_failures());
    assert_eq!(results.counts().total(), 8);
    assert_eq!(Counts::of([]).in_words(), "nothing");
}
