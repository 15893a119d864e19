//! Searches on invented targets: with a known capacity, with noise, with a weak generator, and dying.

use proptest::prelude::*;

use super::*;

/// Searches until it is done; gives the line and the steps.
fn search(settings: Settings, mut step: impl FnMut(u64) -> Vote) -> (Line, Vec<u64>) {
    let mut search = Search::new(settings);
    let mut tried = Vec::new();
    loop {
        match search.next() {
            Next::Done(line) => return (line, tried),
            Next::Take(load) => {
                search.record(load, step(load));
                tried.push(load);
                assert!(tried.len() <= MOST_STEPS as usize, "no end: {tried:?}");
            }
        }
    }
}

fn up_to(max: u64) -> Settings {
    Settings {
        max,
        ..Settings::default()
    }
}

/// A target that holds up to `capacity`, and a generator that can make loads up to `ceiling`.
fn exact(capacity: u64, ceiling: u64) -> impl FnMut(u64) -> Vote {
    move |load| match load {
        _ if load > ceiling => Vote::Generator,
        _ if load > capacity => Vote::Broke,
        _ => Vote::Held,
    }
}

/// A target whose steps hold with a probability that falls from 1 to 0 around its capacity: a logistic curve over the
/// logarithm of the load. At `blur` below the capacity 73 % hold. `mistakes` is the share of steps that fail anyway.
fn noisy(capacity: u64, blur: f64, mistakes: f64, seed: u64) -> impl FnMut(u64) -> Vote {
    let mut chance = fastrand::Rng::with_seed(seed);
    move |load| {
        let off = (load as f64 / (capacity as f64 + 0.5)).ln() / blur;
        let holds = chance.f64() < 1.0 / (1.0 + off.exp());
        let is_mistake = chance.f64() < mistakes;
        if holds && !is_mistake {
            Vote::Held
        } else {
            Vote::Broke
        }
    }
}

fn contains(line: &Line, load: u64) -> bool {
    let interval = line.interval;
    interval.is_some_and(|it| it.low <= load && it.high.is_none_or(|high| load <= high))
}

fn ends(line: &Line) -> Option<(u64, Option<u64>)> {
    line.interval.map(|interval| (interval.low, interval.high))
}

#[test]
fn settings_are_brought_into_order() {
    let given = Settings {
        least: 0,
        start: 50,
        max: 20,
        repeat: 0,
        precision: -1.0,
        max_steps: 0,
        expected: Some(3),
    };
    let expected = Settings {
        least: 1,
        start: 20,
        max: 20,
        repeat: 1,
        precision: f64::EPSILON,
        max_steps: 1,
        expected: Some(3),
    };
    assert_eq!(*Search::new(given).settings(), expected);
    let many = Settings {
        max_steps: 1_000,
        ..given
    };
    assert_eq!(Search::new(many).settings().max_steps, MOST_STEPS);
}

#[test]
fn the_way_to_a_line() {
    let (line, tried) = search(up_to(1_000_000), exact(100, u64::MAX));
    assert_eq!(line.end, End::Found);
    assert_eq!(tried[..5], [10, 20, 40, 80, 160], "the load doubles");
    assert!(tried.len() <= 20, "{tried:?}");
    let (low, high) = ends(&line).unwrap();
    assert!(
        low > 90 && low <= 100 && high.is_some_and(|high| (100..110).contains(&high)),
        "{line:?}"
    );
    assert!(
        line.holds
            .is_some_and(|level| level.load <= low && level.ballot.held > 0)
    );
    assert!(
        line.breaks
            .is_some_and(|level| Some(level.load) > high && level.ballot.broke > 0)
    );
    let fit = line.fit.unwrap();
    assert!(fit.spread < 0.03 && fit.spurious < 0.06, "{fit:?}");
}

#[test]
fn ends_of_all_kinds() {
    let settings = |start, max| Settings { start, ..up_to(max) };
    for (settings, capacity, ceiling, end) in [
        (settings(10, 1_000), 5_000, 9_000, End::Max),
        (settings(10, 1_000), 0, 9_000, End::NothingHolds),
        (settings(10, 1_000), 3, 9_000, End::Found),
        (settings(10, 9_999), 9_999, 100, End::Generator),
        (settings(10, 9_999), 9_999, 0, End::Generator),
        // Failed below the generator's limit: still the target's line.
        (settings(10, 9_999), 100, 150, End::Found),
        (settings(1, 1), 1, 1, End::Max),
        (settings(1, 1), 0, 1, End::NothingHolds),
        (settings(500, 20), 9, 99, End::Found),
        (settings(3_000, 9_999), 40, 9_999, End::Found),
    ] {
        let (line, tried) = search(settings, exact(capacity, ceiling));
        assert_eq!(line.end, end, "{capacity} {ceiling} {settings:?}: {tried:?}");
        let known = capacity.min(ceiling).min(settings.max);
        assert!(contains(&line, known), "{line:?}");
        assert_eq!(line.holds.is_some(), known > 0, "{line:?}");
        let is_bounded = matches!(end, End::Found | End::NothingHolds);
        assert_eq!(line.interval.unwrap().high.is_some(), is_bounded, "{line:?}");
    }
}

/// A generator that is short of a CPU for one step is no reason to give up a target that fails by itself.
#[test]
fn a_disturbed_generator_does_not_end_a_search_that_can_go_on() {
    for disturbed in [40, 31, 26, 20, 25] {
        let mut is_disturbed = true;
        let (line, tried) = search(up_to(1_000), |load| match load {
            _ if load == disturbed && std::mem::take(&mut is_disturbed) => Vote::Generator,
            ..=24 => Vote::Held,
            _ => Vote::Broke,
        });
        assert!(!is_disturbed, "{disturbed}: {tried:?}");
        assert_eq!(line.end, End::Found, "{disturbed}: {line:?} {tried:?}");
        assert!(contains(&line, 24), "{disturbed}: {line:?}");
        assert!(
            line.breaks.is_some_and(|level| level.ballot.broke > 0),
            "{disturbed}: {line:?}"
        );
    }
}

/// A load at which the target broke is not the one at which the generator was the bottleneck.
#[test]
fn a_saturated_generator_is_named_with_its_own_load() {
    let (line, tried) = search(up_to(1_000), |load| match load {
        ..=24 => Vote::Held,
        25 => Vote::Broke,
        _ => Vote::Generator,
    });
    assert_eq!(line.end, End::Generator, "{line:?} {tried:?}");
    assert!(contains(&line, 24), "{line:?}");
    assert!(
        line.breaks.is_some_and(|level| level.ballot.generator > 0),
        "{line:?}"
    );
}

/// A single load is as narrow as can be.
#[test]
fn small_lines_are_exact() {
    for capacity in 1..10 {
        let (line, tried) = search(up_to(1_000), exact(capacity, u64::MAX));
        assert_eq!(ends(&line), Some((capacity, Some(capacity))), "{tried:?}");
        assert_eq!(line.interval.unwrap().within(), Some(0.0));
    }
}

/// From ten to thousands, and from a start near the line.
#[test]
fn a_hard_limit_takes_few_steps() {
    for (start, capacity, most) in [
        (10, 200, 20),
        (10, 500, 22),
        (10, 5_000, 24),
        (400, 500, 18),
        (600, 500, 19),
    ] {
        let (line, tried) = search(
            Settings {
                start,
                ..up_to(1_000_000)
            },
            exact(capacity, u64::MAX),
        );
        assert!(contains(&line, capacity) && line.end == End::Found, "{line:?}");
        assert!(tried.len() <= most, "{} steps: {tried:?}", tried.len());
    }
}

#[test]
fn a_search_that_is_ended_early_tells_what_it_knows() {
    let mut search = Search::new(up_to(1_000));
    assert_eq!(
        (search.so_far().end, search.so_far().interval),
        (End::Interrupted, None)
    );
    assert_eq!(search.so_far().fit, None);
    for (load, vote, holds, breaks) in [
        (10, Vote::Held, Some(10), None),
        (20, Vote::Broke, Some(10), Some(20)),
        (20, Vote::Broke, Some(10), Some(20)),
        (15, Vote::Held, Some(15), Some(20)),
        (15, Vote::Held, Some(15), Some(20)),
        (17, Vote::Generator, Some(15), Some(17)),
    ] {
        search.record(load, vote);
        let line = search.spent(Budget::Time);
        assert_eq!(line.end, End::Inconclusive(Budget::Time));
        let loads = [line.holds, line.breaks].map(|level| level.map(|level| level.load));
        assert_eq!(loads, [holds, breaks], "{load} {vote:?}: {line:?}");
        assert!(line.interval.unwrap().low <= 15, "{line:?}");
    }
}

#[test]
fn the_steps_are_a_budget() {
    for max_steps in [1, 5, 12] {
        let (line, tried) = search(
            Settings {
                max_steps,
                ..up_to(1_000_000)
            },
            exact(700, u64::MAX),
        );
        assert_eq!(
            (line.end, tried.len()),
            (End::Inconclusive(Budget::Steps), max_steps as usize)
        );
        assert!(contains(&line, 700), "{line:?}");
    }
}

/// The search goes on until the expected load is on one side of the interval.
#[test]
fn an_expected_load_is_decided() {
    for (capacity, expected, verdict) in [
        (500, 485, Expectation::Met),
        (500, 515, Expectation::Missed),
        (500, 400, Expectation::Met),
        (500, 900, Expectation::Missed),
        (0, 1, Expectation::Missed),
        (5_000, 1_000, Expectation::Met),
    ] {
        let settings = Settings {
            expected: Some(expected),
            ..up_to(1_000)
        };
        let (line, tried) = search(settings, exact(capacity, u64::MAX));
        assert_eq!(
            line.expectation(expected),
            verdict,
            "{capacity} {expected}: {line:?} {tried:?}"
        );
        assert!(tried.len() <= 30, "{tried:?}");
    }
}

#[test]
fn what_is_said_about_an_expected_load() {
    let line = |end, low, high| Line {
        end,
        interval: Some(Interval { low, high }),
        fit: None,
        holds: None,
        breaks: None,
    };
    use Expectation::{Met, Missed, Undecided};
    for (end, low, high, expected) in [
        (End::Found, 100, Some(120), Met),
        (End::Found, 99, Some(100), Undecided),
        (End::Found, 90, Some(99), Missed),
        (End::Max, 100, None, Met),
        (End::Max, 99, None, Undecided),
        (End::Generator, 100, None, Met),
        (End::Generator, 50, None, Undecided),
        (End::Inconclusive(Budget::Steps), 100, Some(900), Met),
        (End::Inconclusive(Budget::Steps), 10, Some(900), Undecided),
        (End::NothingHolds, 0, Some(0), Missed),
        (End::Degraded, 500, Some(900), Missed),
    ] {
        assert_eq!(
            line(end, low, high).expectation(100),
            expected,
            "{end:?} {low} {high:?}"
        );
    }
    assert_eq!(
        Line {
            interval: None,
            ..line(End::Interrupted, 0, None)
        }
        .expectation(1),
        Undecided
    );
}

#[test]
fn the_width_of_an_interval_is_relative_to_its_middle() {
    for (low, high, expected) in [
        (95, Some(105), Some(0.05)),
        (37, Some(37), Some(0.0)),
        (0, Some(0), Some(0.0)),
        (0, Some(10), Some(1.0)),
        (10, None, None),
    ] {
        assert_eq!(Interval { low, high }.within(), expected, "{low} {high:?}");
    }
}

#[test]
fn a_target_that_dies_is_told_from_one_that_is_full() {
    // Dies at the first overload.
    let mut is_dead = false;
    let (line, tried) = search(up_to(1_000_000), |load| {
        is_dead |= load > 700;
        if is_dead { Vote::Broke } else { Vote::Held }
    });
    assert_eq!((line.end, line.interval), (End::Degraded, None));
    let loads = [line.holds, line.breaks].map(|level| level.unwrap().load);
    assert_eq!(loads, [640, 10], "{tried:?}");
    assert!(tried.len() <= 16, "{tried:?}");
    // Dies at any later moment, and stays dead.
    for last in 8..22 {
        let mut n = 0;
        let (line, tried) = search(up_to(1_000_000), |load| {
            n += 1;
            if n > last || load > 700 {
                Vote::Broke
            } else {
                Vote::Held
            }
        });
        let is_right = line.end == End::Degraded || line.end == End::Found && contains(&line, 700);
        assert!(is_right, "{last}: {line:?} {tried:?}");
    }
}

/// A target that needs some steps to recover from an overload is not dead.
#[test]
fn a_target_that_recovers_late_has_a_line() {
    for n_sick in 1..4 {
        let mut sick = 0;
        let (line, tried) = search(up_to(1_000_000), |load| {
            let is_sick = sick > 0;
            sick = if load > 1_000 {
                n_sick
            } else {
                u32::saturating_sub(sick, 1)
            };
            if is_sick || load > 700 {
                Vote::Broke
            } else {
                Vote::Held
            }
        });
        assert!(contains(&line, 700), "{n_sick}: {line:?} {tried:?}");
    }
}

#[test]
fn one_bad_step_moves_no_line() {
    for bad in 0..25 {
        let (mut n, mut target) = (0, exact(1_000, u64::MAX));
        let (line, tried) = search(up_to(1_000_000), |load| {
            n += 1;
            let vote = target(load);
            if n == bad { Vote::Broke } else { vote }
        });
        assert!(
            contains(&line, 1_000) && line.end == End::Found,
            "{bad}: {line:?} {tried:?}"
        );
    }
}

/// Three failed steps in a row, as when another program runs for a minute, are either noticed or change nothing.
#[test]
fn a_disturbance_of_a_minute_moves_no_line() {
    for begin in 0..22 {
        let (mut n, mut target) = (0, exact(1_000, u64::MAX));
        let (line, tried) = search(up_to(1_000_000), |load| {
            n += 1;
            let vote = target(load);
            if (begin..begin + 3).contains(&n) {
                Vote::Broke
            } else {
                vote
            }
        });
        let says_nothing = matches!(line.end, End::Degraded | End::NothingHolds);
        assert!(
            says_nothing || contains(&line, 1_000),
            "{begin}: {line:?} {tried:?}"
        );
    }
}

/// `[found and right, found and wrong, inconclusive, interval without the line]` of a hundred searches.
fn counted(blur: f64, mistakes: f64) -> [usize; 4] {
    let mut counts = [0; 4];
    for seed in 0..100 {
        let capacity = 30 + seed * 31;
        let (line, tried) = search(up_to(1_000_000), noisy(capacity, blur, mistakes, seed));
        let is_right = contains(&line, capacity);
        match line.end {
            End::Found => {
                assert!(
                    line.interval.unwrap().within().unwrap() <= 0.05,
                    "{line:?} {tried:?}"
                );
                counts[usize::from(!is_right)] += 1;
            }
            End::Inconclusive(_) | End::Degraded => counts[2] += 1,
            _ => panic!("{line:?} {tried:?}"),
        }
        counts[3] += usize::from(!is_right && line.end != End::Degraded);
    }
    counts
}

#[test]
fn hard_limits_are_always_found() {
    assert_eq!(counted(1e-4, 0.0), [100, 0, 0, 0]);
}

/// Steps that fail by mistake, as on a busy machine: right or inconclusive. With 40 of 100, one search is wrong.
#[test]
fn mistakes_make_no_wrong_lines() {
    for (mistakes, least_found, most_wrong) in [(0.05, 95, 0), (0.2, 60, 0), (0.4, 0, 1)] {
        let [right, wrong, inconclusive, missing] = counted(1e-4, mistakes);
        assert!(
            right >= least_found && wrong <= most_wrong && missing <= 5,
            "{mistakes}: {right} {wrong} {inconclusive} {missing}"
        );
    }
}

/// 90 of 100 intervals contain the line, whether it was found or not, even if the share of steps that hold falls from
/// 95 % to 5 % over a width of 30 %; if over 60 %, it is 85.
#[test]
fn intervals_contain_blurred_lines() {
    for (blur, least_found, most_missing) in [(0.01, 95, 1), (0.025, 75, 3), (0.05, 30, 10), (0.1, 0, 15)] {
        let [right, wrong, inconclusive, missing] = counted(blur, 0.0);
        assert!(
            right >= least_found && missing <= most_missing,
            "{blur}: {right} {wrong} {inconclusive} {missing}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_exact_target_is_found(
        capacity in 0_u64..200_000,
        ceiling in 0_u64..200_000,
        start in 1_u64..5_000,
        max in 1_u64..300_000,
        least in 1_u64..20,
        repeat in 1_u32..4,
        precision in 0.02_f64..0.3,
    ) {
        let max_steps = MOST_STEPS;
        let settings = Settings { least, start, max, repeat, precision, max_steps, expected: None };
        let (line, tried) = search(settings, exact(capacity, ceiling));
        let max = max.max(least);
        prop_assert!(tried.iter().all(|load| (least..=max).contains(load)));
        let real = capacity.min(ceiling).min(max);
        match line.end {
            End::Found => {
                prop_assert!(contains(&line, real), "{line:?} {tried:?}");
                prop_assert!(line.interval.unwrap().within().unwrap() <= precision);
            }
            End::Max => prop_assert!(real >= max, "{line:?}"),
            End::NothingHolds => prop_assert!(capacity < least, "{line:?}"),
            End::Generator => prop_assert!(ceiling < max && line.interval.unwrap().low <= real.max(least - 1), "{line:?}"),
            other => prop_assert!(false, "{other:?} {tried:?}"),
        }
    }

    #[test]
    fn whatever_the_votes_it_ends(
        votes in proptest::collection::vec(0_u8..3, 1..60),
        repeat in 1_u32..6,
        max in 1_u64..1_000_000,
        expected in proptest::option::of(1_u64..1_000),
    ) {
        let mut votes = votes.into_iter().cycle();
        let settings = Settings { repeat, max_steps: 60, expected, ..up_to(max) };
        let (line, tried) = search(settings, |_| match votes.next() {
            Some(0) => Vote::Held,
            Some(1) => Vote::Broke,
            _ => Vote::Generator,
        });
        prop_assert!(tried.len() <= 60);
        prop_assert!(tried.iter().all(|load| (1..=max).contains(load)));
        if line.end == End::Generator {
            prop_assert!(line.breaks.is_some_and(|level| level.ballot.generator > 0), "{line:?}");
        }
        if let Some(Interval { low, high: Some(high) }) = line.interval {
            prop_assert!(low <= high && line.fit.unwrap().line >= low && line.fit.unwrap().line <= high);
        }
    }
}
