//! Pages: their data, their escapes, and their size.

use expect_test::expect;
use serde_json::Value;

use super::*;
use crate::{
    comparison::{
        Runs, Terms,
        tests::{comparison_of, made_up},
    },
    summary::tests::{run, summary},
    timeline::{MAX_INTERVALS, Series},
};

/// What is in the element with the data.
fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once(r#"<script type="application/json" id="data">"#)
        .unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_page_gets_the_summary_and_what_was_decided_about_it() {
    let summary = summary(&run());
    let data = data(&page(&[&summary], &[]));
    let run = &data["runs"][0];
    assert_eq!(run["summary"]["metrics"]["rtt"]["values"]["p95"], 362);
    assert_eq!(run["summary"]["metrics"]["rtt"].get("histogram"), None);
    expect![[r#"
        {"users":100,"latency":"rtt","throughput":null,"level":{"least":100.0,"most":100.0,"mean":100.0,"start_seconds":0.0,"seconds":44.5,"iterations":10,"failed_iterations":2,"checks":10,"failed_checks":1,"requests":1,"failed_requests":0,"latency":{"count":5,"min":185,"mean":299.8,"p50":336,"p90":359,"p95":362,"p99":364,"p99_9":365,"max":365},"losses":null,"targets":[]},"is_held":true,"nothing_succeeded":false}
        {"verdict":"pass","sentence":"2 failed iterations; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)"}
        [[0.0,185],[49.830309,336]]
    "#]]
    .assert_eq(&format!(
        "{}\n{}\n{}\n",
        run["highlights"],
        run["headline"],
        serde_json::json!([run["curves"]["rtt"][0], run["curves"]["rtt"][12]]),
    ));
}

#[test]
fn pages_that_are_served_are_like_files_and_load_what_is_beside_them() {
    let served = served("a < b", "<main></main>");
    let file = page(&[&summary(&run())], &[]);
    // Doctype, language, encoding, width and colours come before visible elements.
    let head = |page: &str| page.lines().take(6).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(head(&served), head(&file));
    assert!(head(&file)[5].contains("color-scheme"), "{:?}", head(&file));
    expect![[r#"
        <title>a &lt; b · Plimsoll</title>
        <link rel="stylesheet" href="page.css">
        <body>
        <main></main>
        <noscript><p>This page needs JavaScript.</p></noscript>
        <script src="page.js"></script>
        </body>
        </html>
    "#]]
    .assert_eq(
        &served
            .lines()
            .skip(6)
            .filter(|line| !line.contains("rel=\"icon\"") && *line != "</head>")
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
}

#[test]
fn nothing_of_a_run_is_read_as_html() {
    let mut summary = summary(&run());
    let hostile = "</script><img src=x onerror=alert(1)>\u{2028}\"'";
    summary.metadata.name = hostile.to_owned();
    summary.notices.push(hostile.to_owned());
    let page = page(&[&summary], &[]);
    assert!(!page.contains("<img"), "{}", page.len());
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(data(&page)["runs"][0]["summary"]["notices"][0], hostile);
}

#[test]
fn the_browser_may_run_nothing_else_and_load_nothing() {
    let page = page(&[&summary(&run())], &[]);
    let (_, rest) = page.split_once("Content-Security-Policy\" content=\"").unwrap();
    let (policy, _) = rest.split_once('"').unwrap();
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    assert_eq!(policy, expected);
    // The hash of an empty text, from `openssl dgst -sha256 -binary | base64`.
    assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    for address in ["http://", "https://"] {
        let outside = page.replace("http://www.w3.org/", "");
        let found = outside
            .find(&format!("src=\"{address}"))
            .or_else(|| outside.find(&format!("url({address}")));
        assert_eq!(found, None);
    }
}

#[test]
fn several_runs_are_compared_with_the_first() {
    let (one, other) = (made_up(1.0, 1), made_up(1.3, 2));
    let comparison = comparison_of(&one, &other);
    let page = page(&[&one, &other], std::slice::from_ref(&comparison));
    assert!(page.contains("<title>Comparison of 2 runs · Plimsoll</title>"));
    let data = data(&page);
    let labels = data["runs"].as_array().unwrap().iter().map(|run| &run["label"]);
    assert_eq!(labels.collect::<Vec<_>>(), ["before", "after"]);
    let compared = &data["comparisons"][0];
    let without_figures: Vec<_> = [
        "headline",
        "words",
        "verdict",
        "margin",
        "tolerance",
        "obstacles",
        "advice",
        "notices",
    ]
    .map(|key| format!("{key}: {}\n", compared[key]))
    .into();
    expect![[r#"
        headline: "worse: http_req_duration mean +30 %, p50 +30 %, p95 +30 %"
        words: "worse"
        verdict: "worse"
        margin: 0.1
        tolerance: 0.05
        obstacles: []
        advice: []
        notices: []
    "#]]
    .assert_eq(&without_figures.concat());
}

/// A side with several runs numbers them; a file beside itself keeps both names.
#[test]
fn runs_have_the_names_of_their_sides() {
    let runs = [made_up(1.0, 1), made_up(1.0, 2), made_up(1.0, 3)];
    let [one, two, three] = runs.each_ref();
    let labels = |summaries: &[&Summary], baseline: &[&Summary], candidate: &[&Summary]| {
        let side = |label, summaries| Runs { label, summaries };
        let (baseline, candidate) = (side("main", baseline), side("branch", candidate));
        let comparison = Comparison::new(baseline, candidate, Terms::default()).unwrap();
        let data = data(&page(summaries, &[comparison]));
        let runs = data["runs"].as_array().unwrap().clone();
        let labels = runs.iter().map(|run| run["label"].as_str().unwrap().to_owned());
        labels.collect::<Vec<_>>().join(", ")
    };
    for (summaries, baseline, candidate, expected) in [
        (
            &[one, two, three][..],
            &[one, two][..],
            &[three][..],
            "main 1, main 2, branch",
        ),
        (
            &[one, three, two],
            &[one, two],
            &[three],
            "main 1, branch, main 2",
        ),
        (&[one, one], &[one], &[one], "main, branch"),
        (&[one, two], &[two], &[three], ", main"),
    ] {
        assert_eq!(labels(summaries, baseline, candidate), expected);
    }
}

/// A run of an hour with an unrealistic number of metrics.
fn huge() -> Summary {
    let mut summary = summary(&run());
    let filled = |value: u64| vec![Some(value); MAX_INTERVALS];
    let heat: Vec<u64> = (80..120).flat_map(|bin| [bin, 1_234 * bin]).collect();
    for n in 0..40 {
        let series = Series::Trend {
            counts: vec![123_456; MAX_INTERVALS],
            means: vec![Some(1_234.567_8); MAX_INTERVALS],
            p50: filled(1_234),
            p90: filled(12_345),
            p95: filled(123_456),
            p99: filled(1_234_567),
            max: filled(12_345_678),
            heat: vec![heat.clone(); MAX_INTERVALS],
        };
        let name = if n == 0 {
            "rtt".to_owned()
        } else {
            format!("rtt{{step:{n}}}")
        };
        summary.timeline.metrics.insert(name, series);
    }
    summary
}

#[test]
fn a_page_stays_small_and_says_what_it_leaves_out() {
    const MOST: usize = 3_000_000;
    let (huge, small) = (huge(), summary(&run()));
    assert!(serde_json::to_string(&huge).unwrap().len() > MOST);
    let page = page(&[&huge, &small], &[]);
    assert!(page.len() < MOST, "{}", page.len());
    let data = data(&page);
    let (cut, whole) = (&data["runs"][0], &data["runs"][1]);
    assert!(cut["summary"]["timeline"]["metrics"]["rtt"]["heat"].is_array());
    assert_eq!(
        cut["omitted"][0],
        "left out because the page would be too large: heatmaps of other metrics than the first"
    );
    assert_eq!(whole["summary"]["metrics"]["rtt"]["values"]["p95"], 362);
}
