//! Hash tables: every table whose hash function has no random key is listed here, with the reason why an attacker
//! cannot choose keys that collide.

use std::path::Path;

use super::{Finding, Source};

/// What code and manifests call hash functions without a key, and crates that bring such.
const WITHOUT_KEY: [&str; 20] = [
    "BuildHasherDefault",
    "DefaultHasher",
    "FixedState",
    "FnvHashMap",
    "FnvHashSet",
    "FxBuildHasher",
    "FxHashMap",
    "FxHashSet",
    "FxHasher",
    "SipHasher",
    "ahash",
    "fnv",
    "foldhash",
    "fxhash",
    "hashbrown",
    "indexmap",
    "nohash-hasher",
    "rapidhash",
    "rustc-hash",
    "rustc_hash",
];

/// How a hash function of our own would begin.
const OWN: [&str; 2] = ["BuildHasher for ", "Hasher for "];

/// Files that may name them, and why.
const EXCEPTIONS: [(&str, &str); 13] = [
    ("Cargo.toml", "declares the crate for those below"),
    ("crates/server/hub/Cargo.toml", "for the two tables below"),
    (
        "crates/server/hub/src/collisions.rs",
        "for tests: what tables of names must not use",
    ),
    (
        "crates/server/hub/src/encoded_frames.rs",
        "the hub numbers identifiers itself",
    ),
    (
        "crates/server/hub/src/fanout.rs",
        "the hub numbers streams itself, and at most 64 are in the table",
    ),
    ("crates/lab/scenario/Cargo.toml", "for the fingerprints below"),
    (
        "crates/lab/scenario/src/artillery/websocket/round_trips.rs",
        "fingerprints of messages, in no table",
    ),
    ("crates/lab/shootout/Cargo.toml", "for the table below"),
    (
        "crates/lab/shootout/src/worker/book.rs",
        "the coordinator numbers messages itself",
    ),
    (
        "crates/server/telemetry/src/distinct.rs",
        "for tests: what sketches must not use",
    ),
    ("xtask/Cargo.toml", "for the test below"),
    (
        "xtask/src/bench/collisions/names.rs",
        "for tests: what names must collide in",
    ),
    ("xtask/src/tidy/rules/hashing.rs", "this list"),
];

/// What comes from outside is a key of std's tables only, whose hashes have a random key (ARCHITECTURE, "Hash tables").
pub(super) fn no_hashes_without_key(source: &Source<'_>) -> Vec<Finding> {
    if !source.has_extension(&["rs", "toml"]) {
        return Vec::new();
    }
    let findings = source.each_line(|line| {
        let name = name_in(line)?;
        Some(format!(
            "`{name}` has no random key, so others can choose keys that collide: use std's tables, or add the file to \
             EXCEPTIONS in xtask/src/tidy/rules/hashing.rs with the reason why nobody outside chooses its keys"
        ))
    });
    let is_exception = EXCEPTIONS.iter().any(|(path, _)| source.path == Path::new(path));
    match (is_exception, findings.is_empty()) {
        (false, _) => findings,
        (true, false) => Vec::new(),
        (true, true) => vec![(
            1,
            "has no hash function without a key: take it from EXCEPTIONS in xtask/src/tidy/rules/hashing.rs"
                .into(),
        )],
    }
}

/// What names such a function in a line that is not a comment.
fn name_in(line: &str) -> Option<&'static str> {
    let code = line.trim_start();
    if code.starts_with("//") || code.starts_with('#') {
        return None;
    }
    let is_part_of_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let words = code.split(|character| !is_part_of_word(character));
    let found = words
        .filter_map(|word| WITHOUT_KEY.into_iter().find(|name| word == *name))
        .next();
    found.or_else(|| OWN.into_iter().find(|own| code.contains(own)))
}
