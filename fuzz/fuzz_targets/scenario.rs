//! Scenario files, whatever is in them: as a document, with variables filled in, as wsdirector's and as Artillery's.
#![no_main]

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use libfuzzer_sys::fuzz_target;
use plimsoll_scenario::{
    artillery::{self, Surroundings},
    dialect::Dialect,
    document::{Document, Mistakes},
    wsdirector::{Scenario, fill_in},
};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    let _any = Dialect::of_text(text);
    told(artillery_of(text));
    told(
        fill_in("fuzz.yml", text, 3, &|_| Some("1".to_owned())).and_then(|text| {
            let document = Document::read("fuzz.yml", &text)?;
            Scenario::read(&document, 3).map(drop)
        }),
    );
});

fn artillery_of(text: &str) -> Result<(), Mistakes> {
    let document = Document::read("fuzz.yml", text)?;
    let surroundings = Surroundings {
        path: Path::new("fuzz.yml"),
        config_path: None,
        // The test itself over its environment: both are of any shape.
        overrides: Some(text.to_owned()),
        payload: None,
        environment: Some("test".to_owned()),
        target: None,
        variables: BTreeMap::new(),
        is_insecure: false,
        scenario_name: None,
        is_solo: false,
        max_duration: None,
        system: BTreeMap::new(),
        read_file: &|path| match path.to_str() {
            Some("users.csv") => Ok("name,id\n\"Ada\nB\",1\nBob,2\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        },
        read_bytes: Arc::new(|_, _| Ok(vec![0])),
        read_selector: &|_| Err("there are no pages".to_owned()),
        load_processor: &|_| Err("it is not there".to_owned()),
        seed: 7,
    };
    artillery::read(document, &surroundings).map(drop)
}

/// A report of mistakes has at least one, with a place.
fn told(outcome: Result<(), Mistakes>) {
    if let Err(mistakes) = outcome {
        let text = mistakes.to_string();
        assert!(text.starts_with("fuzz.yml:") || text.starts_with("--overrides:"));
        assert!(
            mistakes
                .iter()
                .all(|mistake| mistake.place.line > 0 && mistake.place.column > 0)
        );
    }
}
