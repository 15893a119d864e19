//! Processes with known CPU times: whose counts, under which name.

use expect_test::{Expect, expect};

use super::*;

fn process(pid: u32, parent: u32, cpu_ticks: u64) -> Process {
    Process {
        id: ProcessId {
            pid,
            started_ticks: 1,
        },
        parent,
        state: 'R',
        n_threads: 1,
        cpu_ticks,
    }
}

/// A process id that the kernel does not give: its name is unknown, and it holds no sockets.
const A: u32 = 900_000_001;
const B: u32 = 900_000_002;
const CHILD: u32 = 900_000_003;

/// The cores that others used in a second, after looks with these processes.
fn others(programs: &mut Programs, looks: &[&[Process]]) -> f64 {
    looks.iter().for_each(|all| programs.note(all));
    let mut ticks = std::mem::take(&mut programs.ended);
    programs
        .seen
        .values()
        .for_each(|seen| ticks.add(seen.name.as_deref(), seen.used));
    ticks.over(Duration::from_secs(1)).cores
}

#[test]
fn only_the_cpu_of_others_in_the_period_counts() {
    let own = std::process::id();
    for (looks, expected) in [
        // What was used before the first look does not count.
        (&[&[process(A, 1, 500)][..], &[process(A, 1, 550)]][..], 0.5),
        // This process and its children do not count.
        (
            &[
                &[process(own, 1, 0), process(A, own, 0), process(B, 1, 0)],
                &[process(own, 1, 90), process(A, own, 90), process(B, 1, 10)],
            ],
            0.1,
        ),
        // A process that began between two looks counts in full, and one that ended as far as it was seen.
        (
            &[
                &[process(A, 1, 0)],
                &[process(A, 1, 20), process(B, 1, 5)],
                &[process(B, 1, 6)],
            ],
            0.26,
        ),
        // The id was given to another process, which had used 7 ticks.
        (
            &[
                &[process(A, 1, 100)],
                &[Process {
                    id: ProcessId {
                        pid: A,
                        started_ticks: 2,
                    },
                    ..process(A, 1, 7)
                }],
            ],
            0.07,
        ),
    ] {
        let found = others(&mut Programs::default(), looks);
        assert!(
            (found - expected).abs() < 1e-9,
            "{found} instead of {expected}: {looks:?}"
        );
    }
}

#[test]
fn targets_and_their_children_are_no_others() {
    let mut programs = Programs {
        roots: vec![process(A, 1, 0).id],
        ..Programs::default()
    };
    let looks: [&[Process]; 2] = [
        &[process(A, 1, 0), process(CHILD, A, 0), process(B, 1, 0)],
        &[process(A, 1, 80), process(CHILD, A, 80), process(B, 1, 30)],
    ];
    let found = others(&mut programs, &looks);
    assert!((found - 0.3).abs() < 1e-9, "{found}");
}

#[test]
fn a_process_that_turns_out_to_be_the_target_takes_its_cpu_along() {
    let mut programs = Programs::default();
    programs.note(&[process(A, 1, 0)]);
    programs.note(&[process(A, 1, 50)]);
    programs.found.push(process(A, 1, 0).id);
    let found = others(&mut programs, &[&[process(A, 1, 99)]]);
    assert!(found.abs() < 1e-9, "{found}");
}

fn check(ticks: &[(&str, u64)], expected: &Expect) {
    let mut all = Ticks::default();
    ticks.iter().for_each(|&(name, n)| all.add(Some(name), n));
    let found = all.over(Duration::from_secs(10));
    let named = found
        .named
        .iter()
        .map(|it| format!("{} {:.2}", it.name, it.cores));
    expected.assert_eq(&format!(
        "{:.2}: {}",
        found.cores,
        named.collect::<Vec<_>>().join(", ")
    ));
}

#[test]
fn the_greatest_are_named() {
    check(&[], &expect!["0.00: "]);
    check(
        &[("sshd", 1), ("cc1", 300), ("node", 990), ("cc1", 300), ("ld", 5)],
        &expect!["1.60: node 0.99, cc1 0.60, ld 0.01"],
    );
}

#[test]
fn names_are_bounded_and_cpu_is_not_lost() {
    let mut ticks = Ticks::default();
    (0..MAX_NAMES + 10).for_each(|n| ticks.add(Some(&format!("program-{n}")), 1));
    assert_eq!((ticks.by_name.len(), ticks.unnamed), (MAX_NAMES, 10));
    let found = ticks.over(Duration::from_secs(1));
    assert!((found.cores - (MAX_NAMES + 10) as f64 / 100.0).abs() < 1e-9);
}

#[test]
fn periods_join_by_their_length() {
    let one = |name: &str, cores| OtherPrograms {
        cores,
        named: vec![Program {
            name: name.to_owned(),
            cores,
        }],
    };
    let mut joined = OtherPrograms::default();
    joined.join(Duration::ZERO, &one("cc1", 1.0), Duration::from_secs(3));
    joined.join(Duration::from_secs(3), &one("node", 2.0), Duration::from_secs(1));
    assert!((joined.cores - 1.25).abs() < 1e-9);
    let named: Vec<_> = joined
        .named
        .iter()
        .map(|it| (it.name.as_str(), it.cores))
        .collect();
    assert_eq!(named, [("cc1", 0.75), ("node", 0.5)]);
}

#[test]
fn groups_below_a_target_belong_to_it() {
    for (text, group, expected) in [
        (
            "0::/system.slice/puma.service\n",
            "system.slice/puma.service",
            true,
        ),
        (
            "0::/system.slice/puma.service/a\n",
            "system.slice/puma.service",
            true,
        ),
        (
            "0::/system.slice/puma.service2\n",
            "system.slice/puma.service",
            false,
        ),
        ("0::/a/b\n", "sys/fs/cgroup/a/b", true),
        ("0::/\n", "a", false),
        ("4:memory:/a\n", "a", false),
    ] {
        assert_eq!(is_below(text, group), expected, "{text} {group}");
    }
}

#[test]
fn this_machine_can_be_looked_at() {
    let mut programs = Programs::default();
    programs.look();
    assert!(programs.seen.keys().any(|id| id.pid == std::process::id()));
    assert!(programs.take(Duration::from_secs(1)).cores >= 0.0);
}
