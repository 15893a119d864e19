//! Obstacles of a comparison, and further messages.

use super::*;
use crate::{
    agents::tests::three,
    comparison::tests::{made_up, target},
    summary::Kind,
};

fn changed(seed: u64, change: impl FnOnce(&mut Summary)) -> Summary {
    let mut run = made_up(1.0, seed);
    change(&mut run);
    run
}

#[track_caller]
fn check(change: impl FnOnce(&mut Summary), expected: &[&str]) {
    let (baseline, candidate) = (made_up(1.0, 1), changed(2, change));
    assert_eq!(obstacles(&[&baseline], &[&candidate]), expected);
}

#[test]
fn runs_must_have_the_same_plan() {
    check(|_| {}, &[]);
    check(
        |run| run.plan.scenarios[0].description = "3 looping VUs for 10s".to_owned(),
        &[
            "run-2 had a different plan from run-1: default: 3 looping VUs for 10s, not default: 2 looping VUs for \
             10s",
        ],
    );
    check(
        |run| run.plan.scenarios[0].start_seconds = 1.0,
        &["run-2 had a different plan from run-1: its scenarios begin or end at different times"],
    );
    check(
        |run| run.metadata.kind = Kind::Artillery,
        &["run-2 had a different plan from run-1: artillery, not k6"],
    );
}

#[test]
fn runs_must_be_of_the_same_machine() {
    let machine = |difference: &str| format!("run-2 ran on a different machine from run-1: {difference}");
    let check = |change: fn(&mut Environment), difference: &str| {
        check(|run| change(&mut run.environment), &[&machine(difference)]);
    };
    check(|it| it.os = "macos".to_owned(), "macos x86_64, not linux x86_64");
    check(
        |it| it.arch = "aarch64".to_owned(),
        "linux aarch64, not linux x86_64",
    );
    check(|it| it.cpu_model = Some("Epyc".to_owned()), "Epyc, not Xeon");
    check(|it| it.cpu_model = None, "an unknown processor, not Xeon");
    check(|it| it.workers = 1, "1 workers, not 2");
    check(
        |it| (it.cores, it.workers) = (64, 60),
        "64 cores, not 2, 60 workers, not 2",
    );
    check(|it| it.memory_bytes *= 2, "17.2 GB of memory, not 8.6");
}

#[test]
fn runs_must_be_of_the_same_fleet() {
    let fleet = |n_agents: usize| move |run: &mut Summary| run.agents = vec![three().remove(0); n_agents];
    for (before, after, expected) in [
        (0, 0, &[][..]),
        (3, 3, &[]),
        (
            0,
            1,
            &[
                "run-2 ran on a different fleet from run-1: 1 agent with 4 cores, not one machine without agents",
            ],
        ),
        (
            2,
            3,
            &["run-2 ran on a different fleet from run-1: 3 agents with 12 cores, not 2 agents with 8 cores"],
        ),
    ] {
        let (baseline, candidate) = (changed(1, fleet(before)), changed(2, fleet(after)));
        assert_eq!(obstacles(&[&baseline], &[&candidate]), expected);
    }
    let lost = changed(1, |run| run.agents = three());
    assert_eq!(obstacles(&[&lost], &[]), ["run-1 lost 1 of 3 agents"]);
}

#[test]
fn memory_may_differ_by_what_a_kernel_takes() {
    // 2 % of 8 GiB.
    let tolerated = 171_798_691;
    let before = made_up(1.0, 1).environment;
    for (difference, is_same) in [(tolerated, true), (tolerated + 1, false)] {
        let (mut more, mut less) = (before.clone(), before.clone());
        more.memory_bytes += difference;
        less.memory_bytes -= difference;
        for after in [more, less] {
            let found = machine(&before, &after);
            assert_eq!(found.is_none(), is_same, "{difference} bytes: {found:?}");
        }
    }
}

#[test]
fn runs_must_have_ended_by_themselves() {
    let reason = || "a reason".to_owned();
    for (end, expected) in [
        (End::Shutdown, "run-2 was interrupted"),
        (End::ThresholdsCrossed, "run-2 was ended by a threshold"),
        (End::Aborted { reason: reason() }, "run-2 was aborted: a reason"),
        (
            End::SetupFailed { reason: reason() },
            "run-2 did not start: a reason",
        ),
    ] {
        check(|run| run.end = end, &[expected]);
    }
    check(
        |run| run.generator.doubtful = true,
        &["in run-2 the load generator was the bottleneck, so its figures do not describe the target alone"],
    );
}

#[test]
fn every_run_of_both_sides_is_looked_at() {
    let other = |seed| changed(seed, |run| run.environment.cores = 4);
    let interrupted = |seed| changed(seed, |run| run.end = End::Shutdown);
    let runs = [
        made_up(1.0, 1),
        other(2),
        interrupted(3),
        other(4),
        interrupted(5),
    ];
    let [first, second, third, fourth, fifth] = runs.each_ref();
    assert_eq!(
        obstacles(&[first, second, third], &[fourth, fifth]),
        [
            "run-2 ran on a different machine from run-1: 4 cores, not 2",
            "run-4 ran on a different machine from run-1: 4 cores, not 2",
            "run-3 was interrupted",
            "run-5 was interrupted",
        ]
    );
    assert_eq!(obstacles(&[third], &[first]), ["run-3 was interrupted"]);
}

#[test]
fn other_versions_are_told() {
    let (baseline, same) = (made_up(1.0, 1), made_up(1.0, 2));
    let newer = changed(3, |run| {
        run.metadata.plimsoll = "0.2.0".to_owned();
        run.environment.kernel = "6.19.0".to_owned();
    });
    let expected = [
        "different versions of Plimsoll: 0.1.0 and 0.2.0",
        "different kernels: 6.18.0 and 6.19.0",
    ];
    assert_eq!(notices(&[&baseline], &[&same]), [""; 0]);
    assert_eq!(notices(&[&baseline], &[&same, &newer]), expected);
    assert_eq!(notices(&[&baseline, &newer], &[&same]), expected);
}

/// A machine of two cores with other programs. Otherwise a busy machine would count as a quiet one, or a quiet one as
/// busy, which lets regressions pass.
#[test]
fn who_else_used_the_machine_is_told_from_what_is_known() {
    let foreign = |cores: &str| {
        Some(format!(
            "in run-1 other programs used {cores} of 2 cores, so only larger differences are reported; run nothing \
             else on the machine"
        ))
    };
    let busy = |cores: &str| {
        Some(format!(
            "in run-1 all cores were busy, and the generator used {cores} of 2, so only larger differences are \
             reported; --watch shows whether the target used them"
        ))
    };
    for (idle, generator, targets, expected) in [
        // With watched targets the use of other programs is known: more than a quarter of the machine counts.
        (Some(0.1), 0.4, [0.5, 0.0], foreign("0.9")),
        (Some(0.1), 0.4, [0.25, 0.25], foreign("0.9")),
        (Some(0.1), 0.4, [0.5, 0.8], None),
        (Some(0.25), 0.5, [0.5, 0.0], None),
        (Some(0.24), 0.5, [0.5, 0.0], foreign("0.5")),
        (Some(0.0), 0.1, [1.9, 0.0], None),
        (Some(0.0), 1.0, [1.5, 0.0], None),
        // No target was watched: all cores were busy, and not with the generator.
        (Some(0.04), 0.9, [0.0, 0.0], busy("0.9")),
        (Some(0.04), 1.0, [0.0, 0.0], None),
        (Some(0.05), 0.9, [0.0, 0.0], None),
        (Some(0.6), 0.1, [0.0, 0.0], None),
        // If the idle time is unknown, there is no message.
        (None, 0.1, [0.0, 0.0], None),
        (None, 0.1, [0.5, 0.0], None),
    ] {
        let run = changed(1, |run| {
            run.generator.machine_idle_share = idle;
            run.generator.cores = generator;
            run.targets = targets.map(target).into();
        });
        let case = format!("{idle:?} idle, generator {generator}, targets {targets:?}");
        assert_eq!(neighbours(&run), expected, "{case}");
        let quiet = made_up(1.0, 2);
        let shared = match expected {
            Some(_) => Company::Shared,
            None => Company::Alone,
        };
        assert_eq!(company(&[&run], &[&quiet]), shared, "{case}");
        assert_eq!(company(&[&quiet], &[&quiet, &run]), shared, "{case}");
        assert_eq!(notices(&[&quiet], &[&run]), Vec::from_iter(expected), "{case}");
    }
}

#[test]
fn other_programs_of_a_fleet_count_by_the_cores_of_all_its_machines() {
    const OTHERS: &str = "agent a1: other programs on this machine took 2.10 cores";
    for (n_agents, is_told) in [(0, true), (2, true), (3, false)] {
        let run = changed(1, |run| {
            run.agents = vec![three().remove(0); n_agents];
            let machine = run.generator.machine.as_mut().unwrap();
            machine.other_cores = 2.1;
            machine.other_programs = Some(OTHERS.to_owned());
        });
        let told = format!(
            "in run-1 {OTHERS}, so only larger differences are reported; run nothing else on the machine"
        );
        assert_eq!(
            neighbours(&run),
            is_told.then_some(told),
            "{n_agents} agents of 4 cores"
        );
    }
}

/// A generator that only took replies late shows by how much; one that set the load does not.
#[test]
fn late_replies_are_no_obstacle_and_a_generator_without_room_is() {
    const LATE: &str =
        "2 % of its clock ticks were 20 ms or more late (up to 31 ms), because no CPU was idle";
    const BUSY: &str = "a worker was 90 % busy or more for 20 % of the time";
    for (reasons, is_late) in [
        (&[LATE][..], true),
        (
            &[
                "with 300 clients: 2 % of its clock ticks were 20 ms or more late",
                LATE,
            ],
            true,
        ),
        (&[LATE, BUSY], false),
        (&[BUSY], false),
        (&[], false),
    ] {
        let run = changed(2, |run| {
            run.generator.doubtful = true;
            run.generator.reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
            run.generator.lateness.p50 = 300;
            run.generator.lateness.p95 = 12_500;
        });
        let baseline = made_up(1.0, 1);
        assert_eq!(takes_replies_late(&run), is_late, "{reasons:?}");
        assert_eq!(
            obstacles(&[&baseline], &[&run]).is_empty(),
            is_late,
            "{reasons:?}"
        );
        let told = "in run-2 the generator took replies late (median 300 µs, p95 12.5 ms), so the intervals are wider \
                    by as much";
        let expected = is_late.then(|| told.to_owned());
        assert_eq!(notices(&[&baseline], &[&run]), Vec::from_iter(expected));
    }
    assert!(!takes_replies_late(&made_up(1.0, 1)));
}

#[test]
fn sides_in_turn_have_a_neighbour_for_each_run() {
    let runs = |times: &[u32]| -> Vec<Summary> {
        let run = |time: &u32| {
            changed(1, |run| {
                run.metadata.started_at = format!("2026-11-22T10:{time:02}:00Z");
            })
        };
        times.iter().map(run).collect()
    };
    for (baseline, candidate, expected) in [
        (&[1, 3, 5][..], &[2, 4, 6][..], Order::InTurn),
        // Each side may begin a pair.
        (&[1, 4, 5], &[2, 3, 6], Order::InTurn),
        (&[1, 2, 3], &[4, 5, 6], Order::Apart),
        (&[1, 3], &[2], Order::Apart),
        (&[1, 3, 4], &[2, 5, 6], Order::Apart),
    ] {
        let (baseline, candidate) = (runs(baseline), runs(candidate));
        let (baseline, candidate): (Vec<_>, Vec<_>) = (baseline.iter().collect(), candidate.iter().collect());
        assert_eq!(order(&baseline, &candidate), expected, "{:?}", candidate.len());
    }
}

#[test]
fn the_given_series_is_that_of_the_smaller_side() {
    let run = |seconds| changed(1, |run| run.metadata.duration_seconds = seconds);
    let (short, long) = (run(14.9), run(20.2));
    let found = circumstances(&[&short, &long], &[&short]).given;
    assert_eq!(found, Series { runs: 1, seconds: 17 });
}
