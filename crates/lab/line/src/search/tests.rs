//! Searches on invented targets: with a known capacity, with noise, with a weak generator, and dying.

use proptest::prelude::*;

use super::*;

/// Searches until it is done; gives the line and the loads that were tried.
fn search(settings: Settings, mut step: impl FnMut(u64) -> Vote) -> (Line, Vec<u64>) {
    let mut search = Search::new(settings);
    let mut tried = Vec::new();
    loop {
        match search.next() {
            Next::Done(line) => return (line, tried),
            Next::Take(load) => {
                search.record(load, step(load));
                tried.push(load);
                assert!(tried.len() < 1_000, "no end: {tried:?}");
            }
        }
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

/// A target whose steps hold with a probability that falls from 1 to 0 around its capacity: a logistic curve; `width`
/// is the distance at which 73 % hold.
fn noisy(capacity: u64, width: f64, seed: u64) -> impl FnMut(u64) -> Vote {
    let mut chance = fastrand::Rng::with_seed(seed);
    move |load| {
        let off = (load as f64 - capacity as f64) / width;
        let holds = chance.f64() < 1.0 / (1.0 + off.exp());
        if holds { Vote::Held } else { Vote::Broke }
    }
}

fn loads(line: &Line) -> (Option<u64>, Option<u64>) {
    (
        line.holds.map(|level| level.load),
        line.breaks.map(|level| level.load),
    )
}

#[test]
fn far_ends_are_halved_on_a_logarithmic_scale() {
    for (low, high, expected) in [
        (1, 3, 2),
        (10, 20, 15),
        (10, 21, 15),
        (10, 40, 25),
        (10, 49, 29),
        (10, 50, 22),
        (1, 5, 2),
        (1, 10_000, 100),
    ] {
        assert_eq!(between(low, high), expected, "{low} {high}");
    }
}

#[test]
fn settings_are_brought_into_order() {
    let given = Settings {
        least: 0,
        start: 50,
        max: 20,
        repeat: 4,
        precision: -1.0,
    };
    let expected = Settings {
        least: 1,
        start: 20,
        max: 20,
        repeat: 5,
        precision: f64::EPSILON,
    };
    assert_eq!(*Search::new(given).settings(), expected);
    for (repeat, expected) in [(0, 1), (1, 1), (2, 3), (3, 3)] {
        let given = Settings { repeat, ..given };
        assert_eq!(Search::new(given).settings().repeat, expected);
    }
}

#[test]
fn the_ends_are_as_close_as_the_precision() {
    for (precision, capacity, expected) in [
        // A gap equal to the precision is close enough.
        (0.05, 100, (100, 105)),
        (0.049, 100, (100, 102)),
        (0.001, 100, (100, 101)),
        (0.5, 100, (80, 120)),
    ] {
        let settings = Settings {
            precision,
            ..Settings::default()
        };
        let (line, _) = search(settings, exact(capacity, u64::MAX));
        let (low, high) = expected;
        assert_eq!(loads(&line), (Some(low), Some(high)), "{precision}");
    }
}

#[test]
fn a_search_that_is_ended_early_tells_what_it_knows() {
    let mut search = Search::new(Settings::default());
    for (load, vote, holds, breaks) in [
        (10, Vote::Held, Some(10), None),
        (20, Vote::Broke, Some(10), None),
        (20, Vote::Broke, Some(10), Some(20)),
        (15, Vote::Held, Some(15), Some(20)),
        (12, Vote::Broke, Some(15), Some(20)),
        (12, Vote::Generator, Some(15), Some(20)),
        (12, Vote::Broke, Some(10), Some(12)),
    ] {
        search.record(load, vote);
        let line = search.so_far();
        assert_eq!(
            (line.end, loads(&line)),
            (End::Interrupted, (holds, breaks)),
            "{load} {vote:?}"
        );
    }
}

#[test]
fn the_way_to_a_line() {
    let (line, tried) = search(Settings::default(), exact(100, u64::MAX));
    assert_eq!(
        tried,
        [
            10, 20, 40, 80, 160, 160, // the first that breaks, twice
            80,  // the target has recovered
            120, 120, 100, 100, 110, 110, 105, 105, // halving
            100, 105 // the rest of the steps at both ends
        ]
    );
    assert_eq!((line.end, loads(&line)), (End::Found, (Some(100), Some(105))));
    let Ballot { held, broke, .. } = line.holds.unwrap().ballot;
    assert_eq!((held, broke), (3, 0));
}

#[test]
fn ends_of_all_kinds() {
    let settings = |start, max| Settings {
        start,
        max,
        ..Settings::default()
    };
    for (settings, capacity, ceiling, expected) in [
        (settings(10, 1_000), 5_000, 9_000, (End::Max, (Some(1_000), None))),
        (
            settings(10, 1_000),
            0,
            9_000,
            (End::NothingHolds, (None, Some(1))),
        ),
        (settings(10, 1_000), 3, 9_000, (End::Found, (Some(3), Some(4)))),
        (
            settings(10, 9_999),
            9_999,
            100,
            (End::Generator, (Some(100), Some(105))),
        ),
        (settings(10, 9_999), 9_999, 0, (End::Generator, (None, Some(1)))),
        // Failed below the generator's limit: still the target's line.
        (
            settings(10, 9_999),
            100,
            120,
            (End::Found, (Some(100), Some(105))),
        ),
        (settings(1, 1), 1, 1, (End::Max, (Some(1), None))),
        (settings(500, 20), 9, 99, (End::Found, (Some(9), Some(10)))),
    ] {
        let (line, _) = search(settings, exact(capacity, ceiling));
        assert_eq!(
            (line.end, loads(&line)),
            expected,
            "{capacity} {ceiling} {settings:?}"
        );
    }
}

#[test]
fn the_next_load_follows_from_the_votes() {
    use Vote::{Broke, Held};
    for (votes, expected) in [
        (&[][..], 10),
        (&[(10, Held)], 20),
        // A load that failed once is repeated, even before the greatest one that held has its majority.
        (&[(10, Held), (20, Broke), (20, Broke), (15, Broke)], 15),
        (&[(10, Held), (20, Broke), (20, Broke)], 10),
        // After a contradiction the least load that held is repeated, not one below that never held.
        (
            &[
                (5, Broke),
                (10, Held),
                (15, Held),
                (15, Broke),
                (20, Broke),
                (20, Broke),
            ],
            10,
        ),
    ] {
        let mut search = Search::new(Settings::default());
        votes.iter().for_each(|&(load, vote)| search.record(load, vote));
        assert_eq!(search.next(), Next::Take(expected), "{votes:?}");
    }
}

/// One step of three is chance, and no earlier state of the target.
#[test]
fn the_lowest_load_that_held_once_does_not_hold() {
    let settings = Settings {
        max: 1,
        ..Settings::default()
    };
    let mut votes = [Vote::Held, Vote::Broke, Vote::Broke].into_iter();
    let (line, tried) = search(settings, |_| votes.next().unwrap());
    assert_eq!((line.end, loads(&line)), (End::NothingHolds, (None, Some(1))));
    assert_eq!(tried, [1, 1, 1]);
}

#[test]
fn a_target_that_dies_is_told_from_one_that_is_full() {
    // Dies at the first overload.
    let mut is_dead = false;
    let (line, tried) = search(Settings::default(), |load| {
        is_dead |= load > 700;
        if is_dead { Vote::Broke } else { Vote::Held }
    });
    assert_eq!((line.end, loads(&line)), (End::Degraded, (Some(640), Some(1))));
    assert!(tried.len() <= 15, "{tried:?}");
    // Dies while the interval is being halved.
    let mut n = 0;
    let (line, _) = search(Settings::default(), |load| {
        n += 1;
        if n > 12 || load > 700 {
            Vote::Broke
        } else {
            Vote::Held
        }
    });
    assert_eq!(line.end, End::Degraded);
}

#[test]
fn one_bad_step_moves_no_line() {
    for bad in 0..40 {
        let (mut n, mut target) = (0, exact(1_000, u64::MAX));
        let (line, _) = search(Settings::default(), |load| {
            n += 1;
            let vote = target(load);
            if n == bad && vote == Vote::Held {
                Vote::Broke
            } else {
                vote
            }
        });
        let (holds, breaks) = loads(&line);
        assert!(
            holds.unwrap() <= 1_000 && breaks.unwrap() > 1_000,
            "{bad}: {line:?}"
        );
    }
}

#[test]
fn noise_moves_the_line_by_little() {
    // 5 % of the capacity is the width in which 73 % hold: a bad case of a real target.
    let mut offs: Vec<f64> = (0..2_000)
        .map(|seed| {
            let capacity = 500 + seed * 3;
            let width = capacity as f64 * 0.05;
            let (line, _) = search(Settings::default(), noisy(capacity, width, seed));
            let (holds, breaks) = loads(&line);
            let middle = (holds.unwrap_or(0) + breaks.unwrap_or(0)) as f64 / 2.0;
            (middle - capacity as f64).abs() / capacity as f64
        })
        .collect();
    offs.sort_by(f64::total_cmp);
    // 95 of 100 searches end within 10 % of the capacity, while the share of held steps falls from 95 % to 5 % over a
    // width of 30 %.
    assert!(offs[1_000] < 0.03, "median {}", offs[1_000]);
    assert!(offs[1_900] < 0.10, "p95 {}", offs[1_900]);
}

#[test]
fn more_steps_make_it_surer() {
    let spread = |repeat| {
        let settings = Settings {
            repeat,
            ..Settings::default()
        };
        let sum: f64 = (0..1_000)
            .map(|seed| {
                let (line, _) = search(settings, noisy(1_000, 50.0, seed));
                (line.holds.map_or(0.0, |level| level.load as f64) - 1_000.0).abs()
            })
            .sum();
        sum / 1_000.0
    };
    let [one, three, seven] = [1, 3, 7].map(spread);
    assert!(seven < three && three < one, "{one} {three} {seven}");
}

proptest! {
    #[test]
    fn an_exact_target_is_found_exactly(
        capacity in 0_u64..200_000,
        ceiling in 0_u64..200_000,
        start in 1_u64..5_000,
        max in 1_u64..300_000,
        least in 1_u64..20,
        repeat in 1_u32..8,
        precision in 0.001_f64..0.5,
    ) {
        let settings = Settings { least, start, max, repeat, precision };
        let (line, tried) = search(settings, exact(capacity, ceiling));
        let max = max.max(least);
        prop_assert!(tried.iter().all(|load| (least..=max).contains(load)));
        // As many levels as doublings and halvings, each with its majority, and the remaining steps at the ends.
        let n_levels = 20 + 20;
        prop_assert!(tried.len() <= n_levels * (repeat as usize).div_ceil(2) + 2 * repeat as usize, "{tried:?}");
        let (holds, breaks) = loads(&line);
        let real = capacity.min(ceiling);
        let is_near = |low: u64, high: u64| high - low <= 1 || (high - low) as f64 <= low as f64 * precision;
        match line.end {
            End::Found | End::Generator if holds.is_some() => {
                let (low, high) = (holds.unwrap(), breaks.unwrap());
                prop_assert!(low <= real && real < high && is_near(low, high), "{line:?}");
                prop_assert_eq!(line.end == End::Generator, high > ceiling);
            }
            End::Max => prop_assert!(real >= max && holds == Some(max)),
            End::NothingHolds => prop_assert!(capacity < least && capacity < ceiling.max(1)),
            End::Generator => prop_assert!(ceiling < least),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn whatever_the_votes_it_ends(
        votes in proptest::collection::vec(0_u8..3, 1..60),
        repeat in 1_u32..6,
        max in 1_u64..1_000_000,
    ) {
        let mut votes = votes.into_iter().cycle();
        let settings = Settings { repeat, max, ..Settings::default() };
        let (line, tried) = search(settings, |_| match votes.next() {
            Some(0) => Vote::Held,
            Some(1) => Vote::Broke,
            _ => Vote::Generator,
        });
        if let (Some(holds), Some(breaks)) = (line.holds, line.breaks)
            && line.end != End::Degraded
        {
            prop_assert!(holds.load < breaks.load);
            prop_assert!(holds.ballot.decision(Search::new(settings).settings().repeat) == Some(Vote::Held));
        }
        prop_assert!(tried.len() < 300);
    }
}
