//! The committed schemas match the tables, and the readers agree with the tables. The first test writes the schemas
//! anew with `UPDATE_EXPECT=1 cargo test -p plimsoll-scenario schema`.

use std::{collections::BTreeSet, path::Path, rc::Rc, sync::Arc};

use expect_test::expect_file;

use super::*;
use crate::{
    artillery::{
        Surroundings,
        hooks::{Instance, Processor},
        selectors::{Position, Selector},
    },
    document::{Document, Mistakes},
    wsdirector::Scenario,
};

mod mutants;

use self::mutants::Mutants;

#[test]
fn the_committed_schemas_are_up_to_date() {
    let text = |schema: &Value| format!("{schema:#}\n");
    expect_file!["../../../../../docs/schema/wsdirector.json"].assert_eq(&text(&wsdirector()));
    expect_file!["../../../../../docs/schema/artillery.json"].assert_eq(&text(&artillery()));
}

/// Reads a file with every key, and files with one mistake each.
fn check(complete: &str, file: &'static Kind, read: impl Fn(Document) -> Result<(), Mistakes>) {
    let document = || Document::read("complete.yml", complete).unwrap();
    read(document()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let wholes = match document().root().node().json() {
        // One after another, as each mutant is read whole.
        Value::Array(items) => items.into_iter().map(|item| json!([item])).collect(),
        whole => match whole["scenarios"].as_array() {
            Some(scenarios) => scenarios.iter().map(|it| with_scenario(&whole, it)).collect(),
            None => vec![whole],
        },
    };
    let mut mutants = Mutants::default();
    wholes.into_iter().for_each(|whole| mutants.add(file, whole));
    let shapes = schema("", file, None);
    let seen: BTreeSet<_> = mutants.seen.iter().map(|key| without_engine(key)).collect();
    let known = keys_of(&shapes["definitions"]);
    let known: BTreeSet<_> = known.iter().map(|key| without_engine(key)).collect();
    let lacking: Vec<_> = known.difference(&seen).collect();
    assert!(lacking.is_empty(), "the file with every key lacks {lacking:?}");
    for (mistake, text) in mutants.texts {
        let document = Document::read("mutant.yml", &text).unwrap();
        assert!(read(document).is_err(), "{mistake} is not a mistake:\n{text}");
    }
}

fn with_scenario(whole: &Value, scenario: &Value) -> Value {
    let mut whole = whole.clone();
    whole["scenarios"] = json!([scenario]);
    whole
}

/// The common parts of all engines, and of environments, are read by the same readers.
fn without_engine(key: &str) -> &str {
    let mut rest = ["http_", "ws_", "part_of_"]
        .iter()
        .filter_map(|engine| key.strip_prefix(engine));
    rest.next().unwrap_or(key)
}

/// All keys that schemas have, with the names of their shapes.
fn keys_of(definitions: &Value) -> BTreeSet<String> {
    let definitions = definitions.as_object().unwrap().iter();
    let keys = definitions.flat_map(|(name, definition)| {
        let properties = definition
            .get("properties")
            .or_else(|| definition["anyOf"][1].get("properties"));
        let properties = properties.and_then(Value::as_object).into_iter().flatten();
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
        |document| Scenario::read(&document, 1).map(drop),
    );
}

#[test]
fn artillerys_reader_takes_what_is_in_the_tables_and_refuses_the_rest() {
    let surroundings = Surroundings {
        path: Path::new("test.yml"),
        config_path: None,
        overrides: None,
        payload: None,
        environment: None,
        target: None,
        variables: BTreeMap::new(),
        is_insecure: false,
        scenario_name: None,
        is_solo: false,
        max_duration: None,
        system: BTreeMap::new(),
        read_file: &|_| Ok("Ada,36\n".to_owned()),
        read_bytes: Arc::new(|_, _| Ok(vec![0])),
        read_selector: &|_| Ok(Arc::new(NoPage)),
        load_processor: &|_| Ok(Arc::new(Module)),
        seed: 7,
    };
    check(
        include_str!("tests/artillery.yml"),
        &artillery::FILE,
        |document| artillery::read(document, &surroundings).map(drop),
    );
}

/// Finds nothing.
#[derive(Debug)]
struct NoPage;

impl Selector for NoPage {
    fn find(&self, _: &str, _: Position, _: Option<&str>) -> Option<String> {
        None
    }
}

/// A module with one function.
#[derive(Debug)]
struct Module;

impl Processor for Module {
    fn functions(&self) -> Vec<&str> {
        vec!["one"]
    }

    fn mentions(&self, _: &str) -> bool {
        false
    }

    fn instance(&self) -> Result<Rc<dyn Instance>, String> {
        Err("nothing is run here".to_owned())
    }
}
