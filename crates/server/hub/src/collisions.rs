//! Names that share a bucket of a hash table without a key, for tests of tables that such names must not slow down.

use std::{
    collections::HashSet,
    hash::{BuildHasher, BuildHasherDefault},
};

use rustc_hash::FxHasher;

/// The hasher that the tables used for names chosen by clients.
type WithoutKey = BuildHasherDefault<FxHasher>;

/// The number of buckets of a table that holds [`N_NAMES`].
const N_BUCKETS: u64 = 1_024;
const N_NAMES: usize = 500;

/// Names that consist of `beginning` and a number and belong in the first bucket.
pub(crate) fn names(beginning: &str) -> Vec<String> {
    let all = (0_u32..).map(|number| format!("{beginning}{number}"));
    all.filter(|name| bucket(&WithoutKey::default(), name) == 0)
        .take(N_NAMES)
        .collect()
}

/// Checks that these names share one bucket of a table without a key, and that this hasher spreads them like other
/// names.
pub(crate) fn check(names: &[String], hasher: &impl BuildHasher) {
    assert_eq!(n_buckets(&WithoutKey::default(), names), 1);
    // Random names would be in 396 of the buckets on average, with a standard deviation of 9, for any key.
    let n_buckets = n_buckets(hasher, names);
    assert!((330..450).contains(&n_buckets), "{n_buckets} buckets");
}

fn n_buckets(hasher: &impl BuildHasher, names: &[String]) -> usize {
    let buckets: HashSet<u64> = names.iter().map(|name| bucket(hasher, name)).collect();
    buckets.len()
}

/// The bucket of a name: as in hash tables, the low bits of its hash.
fn bucket(hasher: &impl BuildHasher, name: &str) -> u64 {
    hasher.hash_one(name) % N_BUCKETS
}
