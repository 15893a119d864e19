//! Every key of the files, with its comparison with the tool's own: for the reference page.

use std::{collections::BTreeSet, ptr};

use plimsoll_load::parity::Parity;

use crate::{
    artillery,
    document::{Kind, Rule, Shape},
    wsdirector,
};

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The keys that lead to it: `scenarios[].flow[].get.url`. `[]` is an item of a list, `*` any name.
    pub path: String,
    /// What it means, in a sentence.
    pub about: &'static str,
    /// The comparison.
    pub parity: Parity,
}

/// The keys of Artillery's files. Maps that are in several places are listed in the first.
pub fn artillery() -> Vec<Row> {
    rows(&artillery::FILE)
}

/// The keys of wsdirector's scenarios, listed in the same way; steps of all protocols are together.
pub fn wsdirector() -> Vec<Row> {
    rows(&wsdirector::FILE)
}

fn rows(file: &Kind) -> Vec<Row> {
    let mut walk = Walk::default();
    walk.kind(file, "");
    walk.rows
}

#[derive(Default)]
struct Walk {
    rows: Vec<Row>,
    paths: BTreeSet<String>,
    /// Shapes that were listed.
    listed: Vec<&'static Shape>,
    /// The maps around the current one.
    around: Vec<&'static Shape>,
}

impl Walk {
    fn kind(&mut self, kind: &Kind, path: &str) {
        let item = || match path {
            // A file that is a list.
            "" => String::new(),
            path => format!("{path}[]"),
        };
        match kind {
            Kind::Either(kinds) => kinds.iter().for_each(|kind| self.kind(kind, path)),
            Kind::List(kind) => self.kind(kind, &item()),
            Kind::Table(kind) => self.kind(kind, &format!("{path}.*")),
            Kind::Map(shape) | Kind::OneOrMore(shape) | Kind::Having(_, shape) | Kind::Step(shape) => {
                self.shape(shape, path);
            }
            Kind::Maps(shape) | Kind::Nested(shape) => self.shape(shape, &item()),
            Kind::Switch(_, cases) => cases.iter().for_each(|(_, shape)| self.shape(shape, path)),
            Kind::Any
            | Kind::Refused(_)
            | Kind::Ignored(_)
            | Kind::Text
            | Kind::Scalar
            | Kind::Pattern(_)
            | Kind::Word(_)
            | Kind::Boolean
            | Kind::Number(..)
            | Kind::Whole(..) => {}
        }
    }

    fn shape(&mut self, shape: &'static Shape, path: &str) {
        // An environment has the keys of the configuration around it.
        let is_variant = self.around.iter().any(|around| around.names().eq(shape.names()));
        if is_variant || self.listed.iter().any(|listed| ptr::eq(*listed, shape)) {
            return;
        }
        self.listed.push(shape);
        self.around.push(shape);
        for key in shape.keys {
            let path = match path {
                "" => key.name.to_owned(),
                path => format!("{path}.{}", key.name),
            };
            if self.paths.insert(path.clone()) {
                self.rows.push(Row {
                    path: path.clone(),
                    about: key.about,
                    parity: key.parity,
                });
            }
            self.kind(&key.kind, &path);
        }
        for rule in shape.rules {
            if let Rule::FreeKeys(kind) = rule {
                self.kind(kind, &format!("{path}.*"));
            }
        }
        self.around.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_listed_with_their_paths() {
        let has = |rows: &[Row], path: &str| rows.iter().filter(|row| row.path == path).count();
        for path in [
            "config.phases[].arrivalRate",
            "config.plugins.ensure.thresholds[].abortOnFail",
            "scenarios[].flow[].send.capture.xpath",
            "scenarios[].flow[].send.payload",
        ] {
            assert_eq!(has(&artillery(), path), 1, "{path}");
        }
        for path in [
            "client.connection_options.headers",
            "client.actions[].perform.action",
            "client.actions[].join.topic",
        ] {
            assert_eq!(has(&wsdirector(), path), 1, "{path}");
        }
        assert_eq!(
            has(&wsdirector(), "send.data"),
            0,
            "steps are listed below a client"
        );
    }

    #[test]
    fn a_refused_key_is_absent_and_no_other() {
        let absent = |rows: Vec<Row>| {
            rows.into_iter()
                .any(|row| matches!(row.parity, Parity::Absent(_)))
        };
        assert!(absent(artillery()));
        assert!(artillery().iter().all(|row| !row.about.is_empty()));
    }
}
