//! Own equivalents of the libraries that most scripts import, so that they run without a network.
//!
//! Written for this program, by the documented behaviour (docs/protocols/k6.md, Imports). Versions of a library differ in
//! what they export, and so do these.

const RANDOM: &str = include_str!("jslib/k6-utils/random.js");
const UUID: &str = include_str!("jslib/k6-utils/uuid.js");
const SECURE_UUID: &str = include_str!("jslib/k6-utils/secure_uuid.js");
const FIND_BETWEEN: &str = include_str!("jslib/k6-utils/find_between.js");
const NORMAL_DISTRIBUTION: &str = include_str!("jslib/k6-utils/normal_distribution.js");
const STAGES: &str = include_str!("jslib/k6-utils/stages.js");
const CHECK: &str = include_str!("jslib/k6-utils/check.js");

/// The parts that make up each version of k6-utils.
const K6_UTILS: [(&str, &[&str]); 7] = [
    ("1.0.0", &[RANDOM, UUID]),
    ("1.1.0", &[RANDOM, UUID, FIND_BETWEEN]),
    ("1.2.0", &[RANDOM, UUID, FIND_BETWEEN, NORMAL_DISTRIBUTION]),
    (
        "1.3.0",
        &[RANDOM, UUID, FIND_BETWEEN, NORMAL_DISTRIBUTION, STAGES],
    ),
    (
        "1.4.0",
        &[RANDOM, SECURE_UUID, FIND_BETWEEN, NORMAL_DISTRIBUTION, STAGES],
    ),
    ("1.5.0", ALL),
    ("1.6.0", ALL),
];

const ALL: &[&str] = &[
    RANDOM,
    SECURE_UUID,
    FIND_BETWEEN,
    NORMAL_DISTRIBUTION,
    STAGES,
    CHECK,
];

/// They differ in nothing that scripts could see.
const K6_SUMMARY_VERSIONS: [&str; 5] = ["0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.1.0"];
const K6_SUMMARY: &[&str] = &[
    include_str!("jslib/k6-summary/humanize.js"),
    include_str!("jslib/k6-summary/text.js"),
    include_str!("jslib/k6-summary/junit.js"),
];

const VALUES: &str = include_str!("jslib/k6-testing/values.js");
const MATCHERS: &str = include_str!("jslib/k6-testing/matchers.js");
const MESSAGE: &str = include_str!("jslib/k6-testing/message.js");
const SOFT_THROWS: &str = include_str!("jslib/k6-testing/soft_throws.js");
const SOFT_FAILS: &str = include_str!("jslib/k6-testing/soft_fails.js");
const EXPECT: &str = include_str!("jslib/k6-testing/expect.js");

/// The parts that make up a version of k6-testing: 0.1 to 0.6, whatever the patch.
fn k6_testing(version: &str) -> Option<&'static [&'static str]> {
    let mut numbers = version.strip_prefix('v').unwrap_or(version).split('.');
    let mut next = || numbers.next()?.parse::<u16>().ok();
    let (major, minor, _patch) = (next()?, next()?, next()?);
    match (major, minor, numbers.next()) {
        (0, 1..=3, None) => Some(&[VALUES, MATCHERS, MESSAGE, SOFT_THROWS, EXPECT]),
        (0, 4..=6, None) => Some(&[VALUES, MATCHERS, MESSAGE, SOFT_FAILS, EXPECT]),
        _ => None,
    }
}

/// The equivalent of the module with this URL, if there is one.
pub(super) fn equivalent(url: &str) -> Option<String> {
    let path = url.strip_prefix("https://")?;
    if path == "anycable.io/xk6-cable/jslib/k6-rails/0.1.0/index.js" {
        return Some(include_str!("jslib/k6-rails.js").to_owned());
    }
    let (library, version) = path
        .strip_prefix("jslib.k6.io/")?
        .strip_suffix("/index.js")?
        .split_once('/')?;
    let parts = match library {
        "k6-utils" => K6_UTILS.iter().find(|(known, _)| *known == version)?.1,
        "k6-summary" if K6_SUMMARY_VERSIONS.contains(&version) => K6_SUMMARY,
        "k6-testing" => k6_testing(version)?,
        _ => return None,
    };
    Some(parts.join("\n"))
}

#[cfg(test)]
mod tests;
