//! Names that share a bucket of a hash table without a key, for tests of tables that must not care.

use std::{
    collections::HashSet,
    hash::{BuildHasher, BuildHasherDefault},
};

use rustc_hash::FxHasher;

/// What the tables used for names that clients choose.
type WithoutKey = BuildHasherDefault<FxHasher>;

/// A table has this many buckets when it holds [`N_NAMES`].
const N_BUCKETS: u64 = 1_024;
const N_NAMES: usize = 500;

/// The names that begin so, go on with a number, and belong into the first bucket.
pub(crate) fn names(beginning: &str) -> Vec<String> {
    let all = (0_u32..).map(|number| format!("{beginning}{number}"));
    all.filter(|name| bucket(&WithoutKey::default(), name) == 0)
        .take(N_NAMES)
        .collect()
}

/// These names are all in one bucket of a table without a key, and spread over one with this hasher as ordinary ones do.
pub(crate) fn check(names: &[String], hasher: &impl BuildHasher) {
    assert_eq!(n_buckets(&WithoutKey::default(), names), 1);
    // By chance they are in 396 of the buckets, give or take 9, whatever the key is.
    let n_buckets = n_buckets(hasher, names);
    assert!((330..450).contains(&n_buckets), "{n_buckets} buckets");
}

fn n_buckets(hasher: &impl BuildHasher, names: &[String]) -> usize {
    let buckets: HashSet<u64> = names.iter().map(|name| bucket(hasher, name)).collect();
    buckets.len()
}

/// As hash tables do it: the low bits decide.
fn bucket(hasher: &impl BuildHasher, name: &str) -> u64 {
    hasher.hash_one(name) % N_BUCKETS
}
