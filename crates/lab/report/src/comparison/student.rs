//! Student's distribution: how many standard errors a figure may be off by chance.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that a variable of Student's distribution with `degrees` of freedom exceeds with the probability
/// `upper_tail` (above 0, at most 0.5). Infinite without any degree of freedom: a single run then tells nothing.
///
/// The quantile is taken in the lower tail, where small probabilities keep all their digits, and mirrored.
pub(crate) fn quantile(upper_tail: f64, degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(distribution) => -distribution.inverse_cdf(upper_tail),
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(upper_tail: f64, degrees: f64, expected: f64) {
        let found = quantile(upper_tail, degrees);
        let is_equal = found == expected || (found - expected).abs() < 0.001;
        assert!(is_equal, "{upper_tail} {degrees}: {found}");
    }

    #[test]
    fn agrees_with_the_tables() {
        check(0.025, 3.0, 3.182);
        check(0.005, 4.0, 4.604);
        check(0.025, 10.0, 2.228);
        check(0.0005, 10.0, 4.587);
        check(0.025, 30.0, 2.042);
        check(0.025, 1000.0, 1.962);
        check(0.5, 10.0, 0.0);
    }

    #[test]
    fn no_figure_is_too_rare_and_no_sample_too_large() {
        // The normal distribution, which Student's approaches.
        check(0.025, 1e6, 1.960);
        check(0.0, 10.0, f64::INFINITY);
        check(0.025, 0.0, f64::INFINITY);
        // Bonferroni's correction for a million figures.
        let rare = quantile(0.025e-6, 10.0);
        assert!((14.0..15.0).contains(&rare), "{rare}");
    }
}
