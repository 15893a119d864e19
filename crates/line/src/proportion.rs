//! A load divided among several scenarios, whose proportions stay what they were.

/// Shares of `load` in proportion to `weights`, each at least 1 where the load is enough for all (the largest-remainder
/// method). They add up to `load`. Weights of 0 count as 1.
pub fn shares(weights: &[u64], load: u64) -> Vec<u64> {
    let n = weights.len() as u64;
    let base = u64::from(load >= n);
    let left = u128::from(load - base * n);
    let weights: Vec<_> = weights.iter().map(|&weight| u128::from(weight.max(1))).collect();
    let total: u128 = weights.iter().sum();
    let mut shares: Vec<u64> = weights
        .iter()
        .map(|weight| base + whole(left * weight / total.max(1)))
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&at| std::cmp::Reverse(left * weights[at] % total));
    let n_missing = load.saturating_sub(shares.iter().sum());
    for &at in by_remainder
        .iter()
        .take(usize::try_from(n_missing).unwrap_or(usize::MAX))
    {
        shares[at] += 1;
    }
    shares
}

/// A share is not greater than the load.
fn whole(share: u128) -> u64 {
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn proportions_stay() {
        for (weights, load, expected) in [
            (&[5][..], 7, &[7][..]),
            (&[1, 1], 10, &[5, 5]),
            (&[30, 10], 40, &[30, 10]),
            (&[30, 10], 2, &[1, 1]),
            (&[30, 10], 1, &[1, 0]),
            (&[1, 1, 1], 10, &[4, 3, 3]),
            (&[99, 1], 100, &[98, 2]),
            (&[0, 3], 8, &[3, 5]),
            (&[1, 2], 0, &[0, 0]),
        ] {
            assert_eq!(shares(weights, load), expected, "{weights:?} {load}");
        }
    }

    proptest! {
        #[test]
        fn shares_add_up(weights in proptest::collection::vec(0_u64..1_000_000, 1..8), load in 0_u64..10_000_000) {
            let shares = shares(&weights, load);
            prop_assert_eq!(shares.iter().sum::<u64>(), load);
            if load >= weights.len() as u64 {
                prop_assert!(shares.iter().all(|&share| share > 0));
            }
        }
    }
}
