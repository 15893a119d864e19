//! The layer of a settings file. Every key is known, or the server does not start.

use std::{io, path::Path};

use toml::de::{DeInteger, DeTable, DeValue};

use super::{
    Surroundings,
    catalog::{Catalog, Meaning},
    layer::{Given, Layer, Origin},
    table::Shape,
};

/// The default paths of a settings file.
pub(super) const USUAL: [&str; 3] = ["plimsoll.toml", "anycable.toml", "/etc/anycable/anycable.toml"];

/// Reads the first of these files that exists. The only one must exist.
pub(super) fn read(catalog: &Catalog<'_>, paths: &[&Path], surroundings: &Surroundings<'_>) -> Layer {
    let mut layer = Layer::default();
    for path in paths {
        match (surroundings.read_file)(path) {
            Ok(text) => {
                parse(catalog, &path.display().to_string(), &text, &mut layer);
                break;
            }
            Err(error) if paths.len() > 1 && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let wrong = format!("cannot read the settings file {}: {error}", path.display());
                layer.errors.push(wrong);
                break;
            }
        }
    }
    layer
}

fn parse(catalog: &Catalog<'_>, path: &str, text: &str, layer: &mut Layer) {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(text.len(), |span| span.start);
        let (line, column) = position(text, offset);
        let key = key_in(text.lines().nth(line - 1).unwrap_or_default());
        layer
            .errors
            .push(format!("{path}:{line}:{column}: {key}: {}", error.message()));
    }
    // What was salvaged from a broken file would only give errors that follow from the first.
    if !errors.is_empty() {
        return;
    }
    let mut reader = Reader {
        catalog,
        path,
        text,
        found: Vec::new(),
        layer,
    };
    reader.table("", document.get_ref());
    reader.finish();
}

/// The key or section at the beginning of a broken line. The rest is left out: a value may be a secret, and the
/// broken part may be the `=` between the two.
fn key_in(line: &str) -> &str {
    let line = line.trim_start();
    let is_of_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    let end = line.find(|c| !is_of_key(c)).unwrap_or(line.len());
    &line[..end]
}

/// Walks through a document.
struct Reader<'a> {
    catalog: &'a Catalog<'a>,
    path: &'a str,
    text: &'a str,
    found: Vec<(Meaning<'a>, Given, Origin)>,
    layer: &'a mut Layer,
}

impl<'a> Reader<'a> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.span().start);
        for (name, value) in entries {
            let key = match section {
                "" => name.get_ref().to_string(),
                section => format!("{section}.{}", name.get_ref()),
            };
            let origin = self.origin(name.span().start, &key);
            match (self.catalog.key(&key), value.get_ref()) {
                (Some(meaning), value) => self.value(meaning, value, origin),
                (None, DeValue::Table(table)) if self.catalog.has_section(&key) => self.table(&key, table),
                (None, DeValue::Table(_)) => self.unknown_section(&key, &origin),
                (None, _) if self.catalog.has_section(&key) => self.layer.errors.push(format!(
                    "{origin}: this is a section; write [{key}] and its keys on the lines below"
                )),
                (None, _) => self.unknown_key(&key, &origin),
            }
        }
    }

    fn value(&mut self, meaning: Meaning<'a>, value: &DeValue<'_>, origin: Origin) {
        // Of an option that has no effect the type does not matter either.
        let given = match (meaning, given(value, takes_pairs(meaning))) {
            (_, Ok(given)) => given,
            (Meaning::Unsupported(_), Err(_)) => Given::One("something".to_owned()),
            (_, Err(wrong)) => {
                self.layer.errors.push(format!("{origin}: {wrong}"));
                return;
            }
        };
        self.found.push((meaning, given, origin));
    }

    fn unknown_section(&mut self, section: &str, origin: &Origin) {
        let hint = hint(self.catalog.nearest_section(section).map(|it| format!("[{it}]")));
        self.layer
            .errors
            .push(format!("{origin}: there is no section [{section}].{hint}"));
    }

    fn unknown_key(&mut self, key: &str, origin: &Origin) {
        let hint = match self.catalog.nearest_key(key) {
            Some(nearest) => hint(Some(nearest.to_owned())),
            None => " plimsoll serve --print-config lists all keys.".to_owned(),
        };
        self.layer
            .errors
            .push(format!("{origin}: there is no such key.{hint}"));
    }

    /// Applies old names last: they only set settings without a value.
    fn finish(self) {
        let (old, new): (Vec<_>, Vec<_>) = self
            .found
            .into_iter()
            .partition(|(meaning, ..)| matches!(meaning, Meaning::Renamed(_)));
        for (meaning, given, origin) in new.into_iter().chain(old) {
            self.layer.note(meaning, given, origin);
        }
    }

    fn origin(&self, offset: usize, key: &str) -> Origin {
        let (line, column) = position(self.text, offset);
        Origin::File {
            path: self.path.to_owned(),
            line,
            column,
            key: key.to_owned(),
        }
    }
}

fn hint(nearest: Option<String>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" Did you mean {nearest}?"))
}

fn takes_pairs(meaning: Meaning<'_>) -> bool {
    matches!(meaning, Meaning::Setting(setting, _) if setting.shape == Shape::Pairs)
}

/// The value as text, or the problem with its type.
fn given(value: &DeValue<'_>, takes_pairs: bool) -> Result<Given, String> {
    match value {
        DeValue::Table(pairs) if takes_pairs => pairs
            .iter()
            .map(|(name, value)| Ok(format!("{}:{}", name.get_ref(), scalar(value.get_ref())?)))
            .collect::<Result<_, _>>()
            .map(Given::Several),
        DeValue::Array(values) => values
            .iter()
            .map(|value| scalar(value.get_ref()))
            .collect::<Result<_, _>>()
            .map(Given::Several),
        value => scalar(value).map(Given::One),
    }
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => integer(number),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(value) => Ok(value.to_string()),
        DeValue::Datetime(_) => Err("expected a string, a number or true/false, not a date".to_owned()),
        DeValue::Array(_) => {
            Err("expected a string, a number or true/false, not a list in a list".to_owned())
        }
        DeValue::Table(_) => Err("expected a string, a number or true/false, not a section".to_owned()),
    }
}

/// Decimal digits, whatever the base in the file.
fn integer(number: &DeInteger<'_>) -> Result<String, String> {
    i64::from_str_radix(number.as_str(), number.radix())
        .map(|number| number.to_string())
        .map_err(|_| format!("{number} is not a 64-bit number"))
}

/// Line and column of a byte offset, both from 1; columns are characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
