//! Small crates with and without cycles.

use std::path::Path;

use super::{super::workspace::crates, *};

/// The cycles of a crate with these files, without the folder: `a.rs b.rs`.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let paths: Vec<_> = files
        .iter()
        .map(|(path, _)| format!("crates/server/hub/src/{path}"))
        .collect();
    let texts = files.iter().map(|(_, text)| *text);
    let mut sources = vec![(Path::new("crates/server/hub/Cargo.toml"), "")];
    sources.extend(paths.iter().map(Path::new).zip(texts));
    let crates = crates(&sources);
    let found: Vec<_> = findings(&crates)
        .iter()
        .map(|finding| finding.what.replace("crates/server/hub/src/", ""))
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn two_files_that_import_from_each_other_are_a_cycle() {
    check(
        &[
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "use crate::b::B;\npub struct A;"),
            ("b.rs", "\nuse super::a;\npub struct B(a::A);"),
        ],
        &["a.rs:1 uses `B` of b.rs, b.rs:3 uses `A` of a.rs"],
    );
}

#[test]
fn a_parent_that_passes_on_the_names_of_its_child_does_not_use_it() {
    check(
        &[
            ("lib.rs", "mod child;\npub use child::Child;\npub struct Parent;"),
            ("child.rs", "use super::Parent;\npub struct Child(Parent);"),
        ],
        &[],
    );
}

#[test]
fn a_parent_that_uses_what_it_passes_on_does() {
    let child = (
        "child.rs",
        "use super::Parent;\npub struct Child(Parent); pub fn make() {}",
    );
    for parent in [
        "mod child;\npub use child::Child;\npub struct Parent { child: Child }",
        "mod child;\nuse child::Child;\npub struct Parent;",
        "mod child;\npub struct Parent;\nfn f() { child::make() }",
        "mod child;\npub use child::*;\npub struct Parent;\nfn f() { make() }",
    ] {
        check(&[("lib.rs", parent), child], &["lib.rs"]);
    }
}

#[test]
fn names_belong_to_the_file_that_defines_them() {
    // The child takes from its parent what another child defines.
    check(
        &[
            (
                "lib.rs",
                "mod error;\nmod reader;\npub use error::Error;\nuse reader::Reader;",
            ),
            ("error.rs", "pub struct Error;"),
            ("reader.rs", "use super::Error;\npub struct Reader(Error);"),
        ],
        &[],
    );
    // Through a module that was imported, and a name that was changed.
    check(
        &[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::c as d;\nfn f(_: d::Other) {} pub struct A;"),
            ("b.rs", "use crate::a::A; pub struct B;"),
            ("c.rs", "pub use crate::b::B as Other;"),
        ],
        &["a.rs:2 uses `B` of b.rs, b.rs:1 uses `A` of a.rs"],
    );
}

#[test]
fn longer_cycles_are_told_once() {
    check(
        &[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::a::A; pub struct C;"),
        ],
        &["a.rs:1 uses `B` of b.rs, b.rs:1 uses `C` of c.rs, c.rs:1 uses `A` of a.rs"],
    );
}

#[test]
fn tests_methods_variables_and_variants_do_not_count() {
    let child = (
        "child.rs",
        "use super::Parent;\npub fn child() {} pub struct Ended(Parent); impl Parent { fn grow() {} }",
    );
    for parent in [
        "mod child;\npub struct Parent;\n#[cfg(test)]\nmod tests { use super::child::Ended; }",
        "mod child;\npub struct Parent;\nfn f(parent: Parent) { parent.grow() }",
        "mod child;\npub use child::child;\npub struct Parent;\nfn f(child: u8) { child }",
        "mod child;\npub use child::Ended;\npub struct Parent;\nenum End { Ended }",
    ] {
        check(&[("lib.rs", parent), child], &[]);
    }
}

#[test]
fn a_function_may_have_the_name_of_a_module() {
    check(
        &[
            (
                "lib.rs",
                "mod answer; mod page; use answer::Answer;\nfn answer(_: Answer) { page::page() }",
            ),
            ("answer.rs", "pub struct Answer;"),
            ("page.rs", "use super::answer::Answer; pub fn page() {}"),
        ],
        &[],
    );
}
