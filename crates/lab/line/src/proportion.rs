//! Divides a load among several scenarios, in constant proportions.

/// Shares of `load` in proportion to `weights`, each at least 1 if the load is enough for all (the largest-remainder
/// method). They add up to `load`. Weights of 0 count as 1.
pub fn shares(weights: &[u64], load: u64) -> Vec<u64> {
    let weights: Vec<_> = weights.iter().map(|&weight| u128::from(weight.max(1))).collect();
    let (load, total) = (u128::from(load), weights.iter().sum::<u128>().max(1));
    let mut shares: Vec<u128> = weights.iter().map(|weight| load * weight / total).collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&at| std::cmp::Reverse(load * weights[at] % total));
    // Fewer than there are shares.
    let n_missing = load - shares.iter().sum::<u128>().min(load);
    by_remainder
        .iter()
        .take(n_missing as usize)
        .for_each(|&at| shares[at] += 1);
    if load >= shares.len() as u128 {
        while let Some(poorest) = shares.iter().position(|&share| share == 0) {
            // The load is enough for all, so one share is at least two.
            if let Some(richest) = (0..shares.len()).max_by_key(|&at| shares[at]) {
                shares[richest] -= 1;
                shares[poorest] += 1;
            }
        }
    }
    // No share is greater than the load.
    shares
        .into_iter()
        .map(|share| u64::try_from(share).unwrap_or(u64::MAX))
        .collect()
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
            (&[99, 1], 100, &[99, 1]),
            (&[999, 1], 100, &[99, 1]),
            (&[0, 3], 8, &[2, 6]),
            // The rest goes to the largest remainders.
            (&[2, 5], 10, &[3, 7]),
            (&[4, 3], 10, &[6, 4]),
            (&[1, 2, 4], 10, &[1, 3, 6]),
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
