//! Small workspaces that hold an invariant, and such that break it.

use std::path::Path;

use super::{super::workspace::crates, table::Clause, *};

/// One crate, `a`, with one clause.
fn table(knows: &'static [&'static str], checks: &'static [Check]) -> [Invariant; 1] {
    // A test makes a few of them, once.
    let clauses = Box::leak(Box::new([Clause {
        says: "knows nothing",
        checks,
    }]));
    [Invariant {
        of: "a",
        knows,
        clauses,
    }]
}

/// A table with these rows finds what is expected: each text is a part of one finding.
#[track_caller]
fn check(table: &[Invariant], files: &[(&str, &str)], expected: &[&str]) {
    let texts: Vec<_> = files
        .iter()
        .map(|(path, text)| (Path::new(*path), *text))
        .collect();
    let found: Vec<_> = findings_by(table, &crates(&texts), &texts)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}

const PAPER: (&str, &str) = (
    "ARCHITECTURE.md",
    "# A\n\n**`a`**: an a. *Invariant: knows\nnothing.* More.\n\n**`b`**: a b.\n",
);

/// A source of `a` breaks `checks` in these lines.
#[track_caller]
fn check_source(checks: &'static [Check], path: &str, source: &str, expected: &[usize]) {
    let files = [
        PAPER,
        ("crates/a/Cargo.toml", ""),
        ("crates/a/src/lib.rs", "mod b;"),
        (path, source),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|line| format!("{path}:{line}: `a` uses"))
        .collect();
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    check(&table(&[], checks), &files, &expected);
}

#[test]
fn a_finding_says_where_what_why_and_what_to_do() {
    let files = [
        PAPER,
        ("crates/a/Cargo.toml", ""),
        ("crates/a/src/lib.rs", "\nuse std::net;"),
    ];
    check(
        &table(&[], &[Check::NoNames(&["std::net"])]),
        &files,
        &[
            "crates/a/src/lib.rs:2: `a` uses `std::net`, which the invariant of `a` excludes (knows nothing): leave it to a \
           crate that may, or change the invariant in ARCHITECTURE.md and xtask/src/tidy/invariants/table.rs",
        ],
    );
}

#[test]
fn names_are_found_behind_imports() {
    const NAMES: &[Check] = &[Check::NoNames(&[
        "std::thread",
        "Instant::now",
        ".elapsed",
        "println!",
    ])];
    for (source, expected) in [
        ("use std::thread;", vec![1]),
        (
            "use std::{\n    io,\n    thread::{self, JoinHandle},\n};",
            vec![3],
        ),
        ("fn f() { std::thread::spawn(g) }", vec![1]),
        ("use std::time::Instant;\nfn f() { Instant::now() }", vec![2]),
        ("use std::time;\nfn f() { g(time::Instant::now) }", vec![2]),
        ("fn f() { since.elapsed() }", vec![1]),
        ("fn f() { period.elapsed }", vec![]),
        ("fn f() { println!() }", vec![1]),
        (
            "use std::time::Instant;\nfn f(elapsed: Instant) { thread::f(elapsed) }",
            vec![],
        ),
        ("// std::thread\nconst A: &str = \"std::thread\";", vec![]),
        ("#[cfg(test)]\nmod tests { use std::thread; }", vec![]),
    ] {
        check_source(NAMES, "crates/a/src/b.rs", source, &expected);
    }
}

#[test]
fn a_clause_may_be_about_a_part_of_a_crate() {
    const IN: &[Check] = &[Check::NoNamesIn(&["b"], &["std::net"])];
    const BUT: &[Check] = &[Check::NoNamesBut(&["b"], &["std::net"])];
    let source = "use std::net;";
    check_source(IN, "crates/a/src/b.rs", source, &[1]);
    check_source(BUT, "crates/a/src/b.rs", source, &[]);
    let elsewhere = [
        PAPER,
        ("crates/a/Cargo.toml", ""),
        ("crates/a/src/lib.rs", source),
    ];
    check(&table(&[], IN), &elsewhere, &[]);
    check(
        &table(&[], BUT),
        &elsewhere,
        &["crates/a/src/lib.rs:1: `a` uses `std::net`"],
    );
}

#[test]
fn dependencies_are_found() {
    let manifest = "[dependencies]\nplimsoll-b.workspace = true\nredis.workspace = true\n[dev-dependencies]\ntokio = \"1\"\n";
    let files = [PAPER, ("crates/a/Cargo.toml", manifest)];
    check(&table(&["b"], &[Check::NoCrates(&["tokio"])]), &files, &[]);
    check(
        &table(&["b"], &[Check::NoCrates(&["redis"])]),
        &files,
        &["Cargo.toml:3: `a` depends on `redis`"],
    );
    check(&table(&[], &[]), &files, &["Cargo.toml:2: `a` comes to know `b`"]);
    check(
        &table(&["b"], &[Check::NoCratesAtAll]),
        &files,
        &[
            "Cargo.toml:2: `a` depends on `plimsoll-b`",
            "Cargo.toml:3: `a` depends on `redis`",
        ],
    );
}

/// A table with `a` and `b`, which knows nothing.
fn two(checks: &'static [Check]) -> Vec<Invariant> {
    const CLAUSES: &[Clause] = &[Clause {
        says: "knows nothing",
        checks: &[],
    }];
    let mut table = Vec::from(table(&["b"], checks));
    table.push(Invariant {
        of: "b",
        knows: &["c"],
        clauses: CLAUSES,
    });
    table
}

const TWO_PAPER: (&str, &str) = (
    "ARCHITECTURE.md",
    "**`a`**: an a. *Invariant: knows nothing.*\n\n**`b`**: a b. *Invariant: knows nothing.*\n",
);

#[test]
fn crates_that_are_needed_through_others_are_found() {
    let files = [
        TWO_PAPER,
        (
            "crates/a/Cargo.toml",
            "[dependencies]\nplimsoll-b.workspace = true\n",
        ),
        (
            "crates/b/Cargo.toml",
            "[dependencies]\nplimsoll-c.workspace = true\n",
        ),
    ];
    check(&two(&[Check::NotThrough(&["d"])]), &files, &[]);
    check(
        &two(&[Check::NotThrough(&["c"])]),
        &files,
        &["crates/a/Cargo.toml:2: `a` needs `c` through `plimsoll-b`"],
    );
}

#[test]
fn what_one_crate_may_alone_no_other_one_may() {
    const ALONE: &[Check] = &[Check::Alone {
        packages: &["clap"],
        banned: &["std::env"],
        besides: &[],
    }];
    const BUT_B: &[Check] = &[Check::Alone {
        packages: &["clap"],
        banned: &["std::env"],
        besides: &["b"],
    }];
    let files = [
        TWO_PAPER,
        ("crates/a/Cargo.toml", "[dependencies]\nclap.workspace = true\n"),
        ("crates/a/src/main.rs", "use std::env;"),
        ("crates/b/Cargo.toml", "[dependencies]\nclap.workspace = true\n"),
        ("crates/b/src/lib.rs", "use std::env;"),
    ];
    check(
        &two(ALONE),
        &files,
        &[
            "crates/b/Cargo.toml:2: `b` depends on `clap`",
            "crates/b/src/lib.rs:1: `b` uses `std::env`",
        ],
    );
    check(&two(BUT_B), &files, &[]);
}

#[test]
fn of_another_crate_one_module_may_be_used() {
    const ONLY: &[Check] = &[Check::OnlyModule("plimsoll_b", "seam")];
    check_source(ONLY, "crates/a/src/b.rs", "use plimsoll_b::seam::Seam;", &[]);
    check_source(
        ONLY,
        "crates/a/src/b.rs",
        "use plimsoll_b::{seam, Session};\nfn f() { plimsoll_b::g() }",
        &[1, 2],
    );
}

#[test]
fn a_test_that_shows_an_invariant_is_there() {
    const TEST: &[Check] = &[Check::Test("crates/a/src/tests.rs", "it_holds")];
    let missing = [PAPER, ("crates/a/Cargo.toml", "")];
    check(
        &table(&[], TEST),
        &missing,
        &["crates/a/src/tests.rs:1: has no test `it_holds`"],
    );
    let there = [
        PAPER,
        ("crates/a/Cargo.toml", ""),
        ("crates/a/src/tests.rs", "#[test]\nfn it_holds() {}"),
    ];
    check(&table(&[], TEST), &there, &[]);
}

#[test]
fn paper_and_table_agree() {
    let manifest = ("crates/a/Cargo.toml", "");
    let with = |text| [("ARCHITECTURE.md", text), manifest];
    check(
        &table(&[], &[]),
        &with("# A\n"),
        &["ARCHITECTURE.md:1: has no paragraph of `a`"],
    );
    check(
        &table(&[], &[]),
        &with("\n**`a`**: an a. *Invariant: knows all.*"),
        &["ARCHITECTURE.md:2: the invariant of `a` reads \"knows all\" here and \"knows nothing\" in"],
    );
    check(
        &[],
        &with("\n**`a`**: an a. *Invariant: knows nothing.*"),
        &["ARCHITECTURE.md:2: nothing checks"],
    );
    check(
        &table(&[], &[]),
        &[PAPER],
        &["ARCHITECTURE.md:1: there is no crate `a`"],
    );
}
