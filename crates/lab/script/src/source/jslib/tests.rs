//! Which versions there are, and what each of them exports. What the functions do is tested under tests/foreign.

use crate::source::{Specifier, jslib::equivalent};

/// The names behind `export function`.
fn exports(url: &str) -> Option<String> {
    let module = Specifier::parse(url).expect("a canonical text");
    let text = equivalent(module.as_str())?;
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("export function ")?.split('(').next());
    Some(names.collect::<Vec<_>>().join(" "))
}

#[test]
fn versions_export_what_the_originals_do() {
    let of_1_0 = "randomIntBetween randomItem randomString uuidv4";
    let of_1_2 = format!("{of_1_0} findBetween normalDistributionStages");
    let of_1_3 = format!(
        "{of_1_2} parseDuration getCurrentStageIndex tagWithCurrentStageIndex tagWithCurrentStageProfile"
    );
    let utils = |version: &str| exports(&format!("https://jslib.k6.io/k6-utils/{version}/index.js"));
    assert_eq!(utils("1.0.0"), Some(of_1_0.to_owned()));
    assert_eq!(utils("1.1.0"), Some(format!("{of_1_0} findBetween")));
    assert_eq!(utils("1.2.0"), Some(of_1_2));
    assert_eq!(utils("1.3.0"), Some(of_1_3.clone()));
    assert_eq!(utils("1.4.0"), Some(of_1_3.clone()));
    assert_eq!(utils("1.6.0"), Some(format!("{of_1_3} check")));
    let summary = exports("https://jslib.k6.io/k6-summary/0.0.1/index.js");
    assert_eq!(summary.as_deref(), Some("humanizeValue textSummary jUnit"));
    for version in ["0.1.0", "v0.1.0", "0.5.0", "0.6.1"] {
        let testing = exports(&format!("https://jslib.k6.io/k6-testing/{version}/index.js"));
        assert_eq!(testing.as_deref(), Some("expect"), "{version}");
    }
}

#[test]
fn what_is_not_known_is_not_replaced() {
    for url in [
        "https://jslib.k6.io/k6-utils/9.0.0/index.js",
        "https://jslib.k6.io/k6-utils/1.1.0/other.js",
        "https://jslib.k6.io/k6-utils/1.1.0/index.js?v=2",
        "https://jslib.k6.io/httpx/0.1.0/index.js",
        "https://jslib.k6.io/k6-testing/0.7.0/index.js",
        "https://jslib.k6.io/k6-testing/0.6/index.js",
        "https://jslib.k6.io/k6-testing/1.6.1/index.js",
        "https://example.com/k6-utils/1.1.0/index.js",
        "file:///k6-utils/1.1.0/index.js",
    ] {
        assert_eq!(exports(url), None, "{url}");
    }
}
