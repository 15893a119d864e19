//! Lines through points on a known line.

use proptest::prelude::*;

use super::*;

fn line(points: &[(f64, f64)]) -> Result<Fit, NoFit> {
    fit("rss_bytes", "vus", points)
}

#[test]
fn exact_points_have_an_exact_line() {
    let points: Vec<_> = (0..10)
        .map(|users| (f64::from(users), 1e10 + 2_500.0 * f64::from(users)))
        .collect();
    let fit = line(&points).unwrap();
    assert!(
        (fit.slope - 2_500.0).abs() < 1e-6 && (fit.intercept - 1e10).abs() < 1e-3,
        "{fit:?}"
    );
    assert!(fit.slope_error < 1e-6);
    assert_eq!(fit.n, 10);
}

/// Anscombe's first set: intercept 3.000, slope 0.500, standard error of the slope 0.118 (The American Statistician 27,
/// 1973).
#[test]
fn agrees_with_published_figures() {
    let loads = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
    let values = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
    let points: Vec<_> = loads.into_iter().zip(values).collect();
    let fit = line(&points).unwrap();
    let shown = format!("{:.3} {:.3} {:.3}", fit.intercept, fit.slope, fit.slope_error);
    assert_eq!(shown, "3.000 0.500 0.118");
}

#[test]
fn says_when_there_is_no_line() {
    let flat = vec![(200.0, 1.0); 30];
    let near: Vec<_> = (0..30).map(|n| (1_000.0 + f64::from(n), 1.0)).collect();
    let two_loads: Vec<_> = (0..30).map(|n| (if n < 15 { 0.0 } else { 9.0 }, 1.0)).collect();
    for (points, words) in [
        (
            vec![(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)],
            "too few intervals (4)",
        ),
        (Vec::new(), "too few intervals (0)"),
        (flat, "the load hardly changed"),
        (near, "the load hardly changed"),
        (two_loads, "the load hardly changed"),
    ] {
        let reason = line(&points).unwrap_err().reason;
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn memory_is_not_looked_at_while_the_load_falls() {
    let course = Course {
        loads: &[1.0, 2.0, 2.0, 1.0, 2.0, 3.0, 0.0],
        values: &[
            Some(10.0),
            Some(20.0),
            None,
            Some(20.0),
            Some(21.0),
            Some(30.0),
            Some(30.0),
        ],
        base: Some(5.0),
    };
    assert_eq!(
        course.rising(),
        [(0.0, 5.0), (1.0, 10.0), (2.0, 20.0), (2.0, 21.0), (3.0, 30.0)]
    );
    assert_eq!(course.all().len(), 6);
}

proptest! {
    /// The line does not depend on the order of the points, and shifted points shift the line.
    #[test]
    fn a_line_moves_with_its_points(
        points in prop::collection::vec((0.0..1e4_f64, 0.0..1e10_f64), 5..40),
        up in 0.0..1e9_f64,
    ) {
        if let Ok(fit) = line(&points) {
            let moved: Vec<_> = points.iter().rev().map(|&(load, value)| (load, value + up)).collect();
            let moved = line(&moved).unwrap();
            let scale = 1e-6 * (fit.slope.abs() + 1e6);
            prop_assert!((moved.slope - fit.slope).abs() < scale);
            prop_assert!((moved.slope_error - fit.slope_error).abs() < scale);
            prop_assert!((moved.intercept - fit.intercept - up).abs() < 1e-6 * (fit.intercept.abs() + 1e10));
        }
    }
}
