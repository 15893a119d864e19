//! The texts and the JSON of searches on an invented target.

use expect_test::{Expect, expect};

use super::*;
use crate::{
    objective::{Concern, Objective},
    search::{Budget, Next, Search, Settings},
    step::{Cause, Judged, TargetUse},
};

fn objectives() -> Vec<Objective> {
    let mut registry = plimsoll_load::metrics::Registry::new();
    registry.trend("rtt").unwrap();
    let errors = plimsoll_load::metrics::Contains::Default;
    registry.counter("errors", errors).unwrap();
    ["rtt p(95)<500", "errors==0"]
        .map(|text| Objective::parse(text, &registry).unwrap())
        .into()
}

pub(super) fn step(load: u64, verdict: Vote) -> Step {
    let rtt = load as f64 / 2.0;
    Step {
        verdict,
        objectives: vec![
            Judged {
                objective: "rtt p(95)<500".to_owned(),
                value: Some(rtt),
                shown: format!("{rtt}ms"),
                held: verdict == Vote::Held,
            },
            Judged {
                objective: "errors==0".to_owned(),
                value: Some(0.0),
                shown: "0".to_owned(),
                held: true,
            },
        ],
        reasons: match verdict {
            Vote::Held => Vec::new(),
            Vote::Broke => vec![format!("rtt p(95) {rtt}ms of 500ms allowed")],
            Vote::Generator => vec!["a worker was busy".to_owned()],
        },
        broke: Vec::from_iter((verdict == Vote::Broke).then_some(Concern::Latency)),
        likely_cause: (verdict == Vote::Broke).then(|| Cause::TargetCpu {
            name: ":8080".to_owned(),
            cpu_cores: 1.94,
            cores: 2,
        }),
        targets: vec![TargetUse {
            name: ":8080".to_owned(),
            cpu_cores: 1.94,
            rss_bytes: 31_000_000,
            cores: 2,
            memory_bytes: None,
        }],
        ..Step::impossible(load, String::new())
    }
}

/// A search up to a load, with a generator up to another one.
pub(super) fn report(settings: Settings, capacity: u64, ceiling: u64, n_steps: usize) -> Report {
    let mut search = Search::new(settings);
    let mut steps = Vec::new();
    let line = loop {
        match search.next() {
            Next::Done(line) => break line,
            Next::Take(_) if steps.len() == n_steps => break search.so_far(),
            Next::Take(load) => {
                let vote = match load {
                    _ if load > ceiling => Vote::Generator,
                    _ if load > capacity => Vote::Broke,
                    _ => Vote::Held,
                };
                search.record(load, vote);
                steps.push(step(load, vote));
            }
        }
    };
    Report {
        plimsoll: "0.1.0",
        command: vec!["plimsoll".to_owned(), "line".to_owned()],
        started_at: "2026-11-22T10:00:00Z".to_owned(),
        name: "chat.js".to_owned(),
        unit: Unit::Users,
        objectives: objectives(),
        are_defaults: false,
        precision: settings.precision,
        expected: settings.expected,
        line,
        steps,
        notices: vec!["the script has start times, which are left out".to_owned()],
    }
}

fn check(report: &Report, expected: &Expect) {
    expected.assert_eq(&report.sentence());
}

#[test]
fn the_headline_is_the_beginning_of_the_sentence() {
    for (capacity, ceiling, expected) in [
        (
            1000,
            9999,
            expect!["Holds 935 to 1,032 users at rtt p(95)<500, errors==0 (90 %)"],
        ),
        (
            37,
            9999,
            expect!["Holds 36 to 38 users at rtt p(95)<500, errors==0 (90 %)"],
        ),
        (
            3,
            9999,
            expect!["Holds 3 users at rtt p(95)<500, errors==0 (90 %)"],
        ),
        (
            1000,
            300,
            expect!["Holds at least 290 users at rtt p(95)<500, errors==0"],
        ),
        (
            0,
            9999,
            expect!["Not even 1 user holds at rtt p(95)<500, errors==0"],
        ),
    ] {
        let report = report(Settings::default(), capacity, ceiling, 99);
        expected.assert_eq(&report.headline());
        assert!(
            report.sentence().starts_with(&report.headline()),
            "{}",
            report.sentence()
        );
    }
}

#[test]
fn the_line_is_a_sentence() {
    let settings = Settings::default();
    check(
        &report(settings, 1000, 9999, 99),
        &expect![
            "Holds 935 to 1,032 users at rtt p(95)<500, errors==0 (90 %): within ±4.9 % after 24 steps. 640 users held in 2 of 2 steps; 1,071 users failed in 1 of 1 steps: rtt p(95) 535.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores."
        ],
    );
    check(
        &report(Settings { max: 100, ..settings }, 1000, 9999, 99),
        &expect![
            "Holds 100 users or more at rtt p(95)<500, errors==0 (2 of 2 steps held), the largest load to try; raise it with --max."
        ],
    );
    check(
        &report(settings, 1000, 300, 99),
        &expect![
            "Holds at least 290 users at rtt p(95)<500, errors==0 (1 of 1 steps held at 281 users); the generator was the bottleneck at 302 users: a worker was busy."
        ],
    );
    check(
        &report(settings, 1000, 0, 99),
        &expect![
            "The search says nothing about the target: the generator itself is the bottleneck at 1 user: a worker was busy."
        ],
    );
    check(
        &report(settings, 0, 9999, 99),
        &expect![
            "Not even 1 user holds at rtt p(95)<500, errors==0 (failed in 5 of 5 steps): rtt p(95) 0.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores."
        ],
    );
    let mut spent = report(settings, 1000, 9999, 9);
    spent.line.end = End::Inconclusive(Budget::Steps);
    check(
        &spent,
        &expect![
            "Inconclusive: 538 users or more at rtt p(95)<500, errors==0 (90 %); all 9 steps are spent (--max-steps) before the interval was within ±5 %. Search again with more of it, or with a --start near the line."
        ],
    );
    spent.line.fit.as_mut().unwrap().spread = 0.2;
    check(
        &spent,
        &expect![
            "Inconclusive: 538 users or more at rtt p(95)<500, errors==0 (90 %); all 9 steps are spent (--max-steps) before the interval was within ±5 %. Steps at one load end differently: make them longer (--step-duration, or --sample-size of a bench), or accept a wider interval, for example --precision 15%."
        ],
    );
    spent.line.fit.as_mut().unwrap().spurious = 0.3;
    check(
        &spent,
        &expect![
            "Inconclusive: 538 users or more at rtt p(95)<500, errors==0 (90 %); all 9 steps are spent (--max-steps) before the interval was within ±5 %. Steps failed far below the line, as if something else used the machine or the target: close other programs, or run the target on another machine."
        ],
    );
    let mut spent = report(settings, 1000, 9999, 12);
    spent.line.end = End::Inconclusive(Budget::Time);
    check(
        &spent,
        &expect![
            "Inconclusive: 795 users or more at rtt p(95)<500, errors==0 (90 %); the time is spent (--max-time) after 12 steps before the interval was within ±5 %. Search again with more of it, or with a --start near the line."
        ],
    );
    spent.line.fit.as_mut().unwrap().spread = 0.2;
    check(
        &spent,
        &expect![
            "Inconclusive: 795 users or more at rtt p(95)<500, errors==0 (90 %); the time is spent (--max-time) after 12 steps before the interval was within ±5 %. Steps at one load end differently: make them longer (--step-duration, or --sample-size of a bench), or accept a wider interval, for example --precision 15%."
        ],
    );
    spent.line.fit.as_mut().unwrap().spurious = 0.3;
    check(
        &spent,
        &expect![
            "Inconclusive: 795 users or more at rtt p(95)<500, errors==0 (90 %); the time is spent (--max-time) after 12 steps before the interval was within ±5 %. Steps failed far below the line, as if something else used the machine or the target: close other programs, or run the target on another machine."
        ],
    );
    let expected = Settings {
        expected: Some(100),
        ..settings
    };
    check(
        &report(expected, 1000, 9999, 99),
        &expect![
            "Holds 935 to 1,032 users at rtt p(95)<500, errors==0 (90 %): within ±4.9 % after 24 steps. 640 users held in 2 of 2 steps; 1,071 users failed in 1 of 1 steps: rtt p(95) 535.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores. Expected: 100 or more (reached)."
        ],
    );
    let expected = Settings {
        expected: Some(100000),
        ..settings
    };
    check(
        &report(expected, 1000, 9999, 99),
        &expect![
            "Holds 935 to 1,032 users at rtt p(95)<500, errors==0 (90 %): within ±4.9 % after 24 steps. 640 users held in 2 of 2 steps; 1,071 users failed in 1 of 1 steps: rtt p(95) 535.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores. Expected: 100,000 or more (not reached)."
        ],
    );
    let undecided = Settings {
        expected: Some(1000),
        max_steps: 12,
        ..settings
    };
    check(
        &report(undecided, 1000, 9999, 99),
        &expect![
            "Inconclusive: 795 users or more at rtt p(95)<500, errors==0 (90 %); all 12 steps are spent (--max-steps) before the interval was within ±5 %. Search again with more of it, or with a --start near the line. Expected: 1,000 or more (undecided, because the interval is on both sides of it)."
        ],
    );
    check(
        &report(settings, 1000, 9999, 0),
        &expect!["Ended before the first step was complete."],
    );
    check(
        &report(settings, 1000, 9999, 3),
        &expect![
            "Ended before the line was found: 40 users held in 1 of 1 steps, and no load above it failed."
        ],
    );
    check(
        &report(settings, 1000, 9999, 11),
        &expect![
            "Ended before the line was found: 987 users held in 1 of 1 steps; 1,280 users failed in 2 of 2 steps: rtt p(95) 640ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores."
        ],
    );
    check(
        &report(settings, 0, 9999, 2),
        &expect![
            "Ended before the line was found: 2 users failed in 1 of 1 steps: rtt p(95) 1ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores."
        ],
    );
    let mut degraded = report(settings, 0, 9999, 99);
    degraded.line.end = End::Degraded;
    degraded.line.holds = degraded.line.breaks.map(|level| Level { load: 640, ..level });
    check(
        &degraded,
        &expect![
            "The target got worse during the search: 640 users held at first, but later not even 1 user did: rtt p(95) 0.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores. Is the target still running? It may not recover from overload; read its log, and search again after a restart with a lower --max."
        ],
    );
}

#[test]
fn everything_for_people() {
    let report = report(Settings::default(), 100, 9999, 99);
    let mut text = header(report.unit, &objectives(), 1);
    for (at, step) in report.steps.iter().enumerate().skip(3).take(4) {
        text += &format!("\n{}", row(at + 1, step, &objectives(), Style::PLAIN));
    }
    expect![[r#"
        step       users  rtt p(95)     errors     target CPU, memory
           4          80       40ms          0      1.94 cores, 31 MB  held
           5         160       80ms          0      1.94 cores, 31 MB  broke: rtt p(95) 80ms of 500ms allowed; CPU of :8080 97 % of 2 cores
           6         160       80ms          0      1.94 cores, 31 MB  broke: rtt p(95) 80ms of 500ms allowed; CPU of :8080 97 % of 2 cores
           7          80       40ms          0      1.94 cores, 31 MB  held"#]].assert_eq(&text);
    expect![[r#"

        users, rtt p(95)<500
           10     5ms   ██▌
           20    10ms   █████
           40    20ms   ██████████
           80    40ms   ████████████████████
           95  47.5ms   ███████████████████████▊
           98    49ms   ████████████████████████▌
           99  49.5ms   ████████████████████████▊
          100    50ms   █████████████████████████
          101  50.5ms ✗ █████████████████████████▎
          102    51ms ✗ █████████████████████████▌
          105  52.5ms ✗ ██████████████████████████▎
          107  53.5ms ✗ ██████████████████████████▊
          123  61.5ms ✗ ██████████████████████████████▊
          160    80ms ✗ ████████████████████████████████████████

        pass: Holds 97 to 106 users at rtt p(95)<500, errors==0 (90 %): within ±4.4 % after 19 steps. 95 users held in 1 of 1 steps; 107 users failed in 1 of 1 steps: rtt p(95) 53.5ms of 500ms allowed; likely cause: CPU of :8080 97 % of 2 cores.
        the script has start times, which are left out
    "#]].assert_eq(&report.text(Style::PLAIN));
}

#[test]
fn everything_for_machines() {
    let mut report = report(
        Settings {
            max: 20,
            ..Settings::default()
        },
        15,
        9999,
        99,
    );
    report.steps.truncate(1);
    expect![[r#"
        {
          "version": 2,
          "plimsoll": "0.1.0",
          "command": [
            "plimsoll",
            "line"
          ],
          "name": "chat.js",
          "unit": "users",
          "started_at": "2026-11-22T10:00:00Z",
          "objectives": [
            "rtt p(95)<500",
            "errors==0"
          ],
          "limits": [
            {
              "title": "rtt p(95)",
              "measure": "milliseconds",
              "limit": 500.0
            },
            {
              "title": "errors",
              "measure": "number",
              "limit": 0.0
            }
          ],
          "default_objectives": false,
          "result": {
            "verdict": "pass",
            "end": "found",
            "spent": null,
            "interval": {
              "low": 15,
              "high": 16,
              "within": 0.03225806451612903,
              "confidence": 0.9
            },
            "fit": {
              "line": 15,
              "spread": 0.011195317695426822,
              "spurious": 0.03880982576422084
            },
            "expected": null,
            "holds": {
              "load": 15,
              "held": 3,
              "broke": 0,
              "generator": 0
            },
            "breaks": {
              "load": 17,
              "held": 0,
              "broke": 1,
              "generator": 0
            },
            "what_broke": null,
            "likely_cause": null,
            "other_programs": null,
            "reasons": null,
            "headline": "Holds 15 to 16 users at rtt p(95)<500, errors==0 (90 %)",
            "sentence": "Holds 15 to 16 users at rtt p(95)<500, errors==0 (90 %): within ±3.2 % after 1 steps. 15 users held in 3 of 3 steps; 17 users failed in 1 of 1 steps."
          },
          "steps": [
            {
              "load": 10,
              "verdict": "held",
              "objectives": [
                {
                  "objective": "rtt p(95)<500",
                  "value": 5.0,
                  "shown": "5ms",
                  "held": true
                },
                {
                  "objective": "errors==0",
                  "value": 0.0,
                  "shown": "0",
                  "held": true
                }
              ],
              "reasons": [],
              "broke": [],
              "likely_cause": null,
              "failures": [],
              "targets": [
                {
                  "name": ":8080",
                  "cpu_cores": 1.94,
                  "rss_bytes": 31000000,
                  "cores": 2,
                  "memory_bytes": null
                }
              ],
              "generator_cpu_cores": 0.0,
              "lateness_bound_ms": null,
              "other_programs": null,
              "seconds": 0.0
            }
          ],
          "notices": [
            "the script has start times, which are left out"
          ]
        }"#]].assert_eq(&format!("{:#}", report.json()));
}

/// Uses the latest step at the upper end that explains why it fails.
#[test]
fn the_reasons_are_those_of_the_upper_end() {
    let of = |end, votes: &[(u64, Vote)]| {
        let mut report = report(Settings::default(), 10, 9999, 99);
        report.line.end = end;
        report.line.breaks = report.line.breaks.map(|level| Level { load: 20, ..level });
        let steps = votes.iter().enumerate().map(|(at, (load, vote))| Step {
            reasons: vec![at.to_string()],
            ..step(*load, *vote)
        });
        report.steps = steps.collect();
        report.breaking_step().map(|step| step.reasons[0].clone())
    };
    use Vote::{Broke, Generator, Held};
    let steps = [
        (20, Broke),
        (20, Generator),
        (20, Broke),
        (20, Generator),
        (20, Held),
        (30, Broke),
    ];
    assert_eq!(of(End::Found, &steps).as_deref(), Some("2"));
    assert_eq!(of(End::NothingHolds, &steps).as_deref(), Some("2"));
    assert_eq!(of(End::Generator, &steps).as_deref(), Some("3"));
    assert_eq!(of(End::Generator, &steps[..1]), None);
    assert_eq!(of(End::Found, &[(20, Held), (30, Broke)]), None);
}

#[test]
fn a_row_marks_what_did_not_hold() {
    let colored = Style {
        color: true,
        ..Style::PLAIN
    };
    let mut held = step(10, Vote::Held);
    held.objectives.truncate(1);
    held.targets.clear();
    assert_eq!(
        row(1, &held, &objectives(), colored),
        "   1          10        5ms          –  \u{1b}[32mheld\u{1b}[0m"
    );
    let mut spoiled = step(10, Vote::Generator);
    spoiled.targets.clear();
    assert_eq!(
        row(1, &spoiled, &objectives(), colored),
        "   1          10  \u{1b}[31m      5ms\u{1b}[0m          0  \u{1b}[31mgenerator\u{1b}[0m: a worker was busy"
    );
}

#[test]
fn a_page_has_the_line_in_its_title() {
    let report = report(Settings::default(), 100, 9999, 99);
    let page = report.html();
    assert!(
        page.contains(&format!(
            "<title>chat.js: {} · Plimsoll</title>",
            report.headline().replace('<', "&lt;")
        )),
        "{page:.300}"
    );
    assert!(page.contains(" users failed in "));
}

#[test]
fn thousands_have_commas() {
    for (n, expected) in [
        (0, "0"),
        (999, "999"),
        (1_000, "1,000"),
        (12_345, "12,345"),
        (123_456, "123,456"),
        (1_234_567, "1,234,567"),
    ] {
        assert_eq!(grouped(n), expected);
    }
    let titles = [Unit::Users, Unit::Rate, Unit::Clients, Unit::Scale].map(Unit::title);
    assert_eq!(titles, ["users", "per second", "clients", "scale"]);
}

#[test]
fn loads_have_their_unit() {
    for (unit, load, expected) in [
        (Unit::Users, 1, "1 user"),
        (Unit::Users, 1_240, "1,240 users"),
        (Unit::Rate, 1, "1 iteration/s"),
        (Unit::Rate, 1_234_567, "1,234,567 iterations/s"),
        (Unit::Clients, 1, "1 client"),
        (Unit::Clients, 999, "999 clients"),
        (Unit::Scale, 12, "scale 12"),
    ] {
        assert_eq!(unit.of(load), expected);
    }
    let ranges = [Unit::Users, Unit::Rate, Unit::Scale].map(|unit| unit.of_range(450, 1_520));
    assert_eq!(
        ranges,
        [
            "450 to 1,520 users",
            "450 to 1,520 iterations/s",
            "scale 450 to 1,520"
        ]
    );
}

#[test]
fn a_search_that_was_kept_says_what_it_said() {
    let report = report(Settings::default(), 43, u64::MAX, usize::MAX);
    let kept = Kept::read(&report.json().to_string()).unwrap();
    let text = kept.text(Style::PLAIN);
    assert!(text.contains(&report.sentence()), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "step       users  rtt p(95)     errors");
    assert_eq!(lines[1], "   1          10        5ms          0  held");
    let n_broke = lines
        .iter()
        .filter(|line| line.contains("broke: rtt p(95) "))
        .count();
    assert_eq!(
        n_broke,
        report
            .steps
            .iter()
            .filter(|step| step.verdict == Vote::Broke)
            .count()
    );
    let page = kept.page("./");
    assert!(page.contains("data-list=\"./\"") && page.contains("id=\"line\""));
}

#[test]
fn other_texts_are_no_kept_search() {
    for (text, words) in [
        ("", "is not a search result of plimsoll line: EOF"),
        (
            r#"{"version": 1}"#,
            "is not a search result of plimsoll line: missing field `name`",
        ),
        (
            r#"{"version": 3}"#,
            "is a search result of version 3, but this program reads version 2; use a newer plimsoll",
        ),
    ] {
        let error = Kept::read(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn objectives_without_samples_are_not_in_the_headline() {
    let mut report = report(Settings::default(), 3, 9999, 99);
    for step in &mut report.steps {
        step.objectives[1].value = None;
    }
    assert_eq!(report.headline(), "Holds 3 users at rtt p(95)<500 (90 %)");
    let more = report.objectives[0].clone();
    report.objectives = vec![more.clone(), more.clone(), more.clone(), more];
    for step in &mut report.steps {
        let judged = step.objectives[0].clone();
        step.objectives = vec![judged; 4];
    }
    let expected = "Holds 3 users at rtt p(95)<500, rtt p(95)<500 and 2 more (90 %)";
    assert_eq!(report.headline(), expected);
    report.steps.iter_mut().for_each(|step| step.objectives.clear());
    assert_eq!(report.headline(), "Holds 3 users (90 %)");
}
