//! The configuration file: options as JSON, and keys that only a whole run has (k6's `--config`).

use std::{
    io,
    path::{Path, PathBuf},
};

use plimsoll_load::plan::{Options, Read};
use serde_json::{Map, Value};

use super::mistake::Mistake;
use crate::surroundings::Surroundings;

/// The content of a configuration file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ConfigFile {
    /// The path of the file; `None` without a file.
    pub(super) path: Option<PathBuf>,
    pub(super) read: Read,
    /// `out`: what `--out` is on the command line.
    pub(super) outputs: Vec<String>,
    /// `linger`: what `--linger` is on the command line.
    pub(super) linger: bool,
}

/// Keys of k6's file that are about things that are never done here.
const WITHOUT_EFFECT: [&str; 2] = ["noUsageReport", "collectors"];

impl ConfigFile {
    /// Reads the file that was asked for, or the usual one where it exists.
    pub(super) fn find(named: Option<&Path>, surroundings: &Surroundings<'_>) -> Result<Self, Mistake> {
        let usual;
        let (path, must_exist) = match (named, usual_path(surroundings)) {
            (Some(path), _) => (path, true),
            (None, Some(path)) => {
                usual = path;
                (usual.as_path(), false)
            }
            (None, None) => return Ok(Self::default()),
        };
        match (surroundings.read_file)(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => Ok(Self::default()),
            Err(error) => Err(Mistake::new(path.display(), format!("cannot be read: {error}"))),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Mistake> {
        let place = path.display();
        let mut values: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| Mistake::new(&place, format!("is not a JSON object: {error}")))?;
        WITHOUT_EFFECT.iter().for_each(|key| drop(values.remove(*key)));
        let mut take = |key, expected: &str, valid: fn(&Value) -> bool| {
            let value = values.remove(key).unwrap_or_default();
            if value.is_null() || valid(&value) {
                Ok(value)
            } else {
                Err(Mistake::new(
                    &place,
                    format!("{key}: expected {expected}, found {value}"),
                ))
            }
        };
        let outputs = take("out", "a list of texts", is_list_of_texts)?;
        let linger = take("linger", "true or false", Value::is_boolean)?;
        let read =
            Options::from_json(&values.into()).map_err(|error| Mistake::new(&place, error.to_string()))?;
        Ok(Self {
            path: Some(path.to_owned()),
            read,
            outputs: texts(&outputs),
            linger: linger.as_bool().unwrap_or_default(),
        })
    }
}

/// The path where k6 keeps the file.
fn usual_path(surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let folder = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(Path::new(surroundings.variable("HOME")?).join(".config")))?;
    Some(folder.join("k6/config.json"))
}

fn is_list_of_texts(value: &Value) -> bool {
    let items = value.as_array();
    items.is_some_and(|items| items.iter().all(Value::is_string))
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
