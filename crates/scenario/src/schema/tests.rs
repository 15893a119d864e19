//! The committed schemas are those of the tables, and the readers agree with the tables. The first test writes the
//! schemas anew with `UPDATE_EXPECT=1 cargo test -p plimsoll-scenario schema`.

use std::collections::BTreeSet;

use expect_test::expect_file;

use super::*;
use crate::{
    document::{Document, Mistakes},
    wsdirector::Scenario,
};

mod mutants;

use self::mutants::Mutants;

#[test]
fn the_committed_schemas_are_up_to_date() {
    let text = |schema: &Value| format!("{schema:#}\n");
    expect_file!["../../../../docs/schema/wsdirector.json"].assert_eq(&text(&wsdirector()));
}

/// Reads a file with every key, and the same with one mistake each.
fn check(complete: &str, file: &'static Kind, read: impl Fn(&Document) -> Result<(), Mistakes>) {
    let document = Document::read("complete.yml", complete).unwrap();
    read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let wholes = match document.root().node().json() {
        // One after another, as each mutant is read whole.
        Value::Array(items) => items.into_iter().map(|item| json!([item])).collect(),
        whole => vec![whole],
    };
    let mut mutants = Mutants::default();
    wholes.into_iter().for_each(|whole| mutants.add(file, whole));
    let shapes = schema("", file, None);
    assert_eq!(
        mutants.seen,
        keys_of(&shapes["definitions"]),
        "the file with every key lacks some"
    );
    for (mistake, text) in mutants.texts {
        let document = Document::read("mutant.yml", &text).unwrap();
        assert!(read(&document).is_err(), "{mistake} is no mistake:\n{text}");
    }
}

/// All keys that schemas have, with the names of their shapes.
fn keys_of(definitions: &Value) -> BTreeSet<String> {
    let definitions = definitions.as_object().unwrap().iter();
    let keys = definitions.flat_map(|(name, definition)| {
        let properties = definition
            .get("properties")
            .or_else(|| definition["anyOf"][1].get("properties"));
        let properties = properties.unwrap().as_object().unwrap().iter();
        properties
            .filter(|(_, property)| property.get("not").is_none())
            .map(move |(key, _)| format!("{name}.{key}"))
    });
    keys.collect()
}

#[test]
fn wsdirectors_reader_takes_what_is_in_the_tables_and_refuses_the_rest() {
    check(
        include_str!("tests/wsdirector.yml"),
        &wsdirector::FILE,
        |document| Scenario::read(document, 1).map(drop),
    );
}
