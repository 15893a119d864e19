//! The command line before clap sees it: AnyCable's options that clap does not know are taken out, and `--flag=true`
//! is understood.

use std::ffi::OsString;

use super::{
    catalog::{Catalog, Meaning, is_switch},
    layer::{Given, Layer, Origin},
};

/// The command line in two parts.
pub(super) struct Sorted {
    /// The arguments for clap.
    pub(super) arguments: Vec<OsString>,
    /// Old names, options without effect, and switches with a value.
    pub(super) layer: Layer,
}

/// Sorts the arguments behind `serve`.
pub(super) fn sort(catalog: &Catalog<'_>, arguments: impl Iterator<Item = OsString>) -> Sorted {
    let mut sorted = Sorted {
        arguments: Vec::new(),
        layer: Layer::default(),
    };
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            sorted.arguments.push(argument);
            sorted.arguments.extend(arguments);
            break;
        }
        let Some((meaning, flag, value)) = taken_out(catalog, &argument) else {
            sorted.arguments.push(argument);
            continue;
        };
        let is_value = |next: &OsString| !next.as_encoded_bytes().starts_with(b"-");
        let value = match (value, needs_value(meaning)) {
            (Some(value), _) => Some(value),
            (None, true) => arguments
                .next_if(is_value)
                .map(|value| value.to_string_lossy().into_owned()),
            (None, false) => Some("true".to_owned()),
        };
        let origin = Origin::Flag(flag);
        match value {
            Some(value) => sorted.layer.note(meaning, Given::One(value), origin),
            None => sorted
                .layer
                .errors
                .push(format!("{origin}: a value is required, as in {origin}=VALUE")),
        }
    }
    sorted
}

/// The flag and its value, if this argument is not for clap.
fn taken_out<'a>(
    catalog: &Catalog<'a>,
    argument: &OsString,
) -> Option<(Meaning<'a>, String, Option<String>)> {
    let text = argument.to_str()?.strip_prefix("--")?;
    let (flag, value) = match text.split_once('=') {
        Some((flag, value)) => (flag, Some(value.to_owned())),
        None => (text, None),
    };
    match catalog.flag(flag)? {
        Meaning::Setting(_, arg) if !is_switch(arg) || value.is_none() => None,
        meaning => Some((meaning, flag.to_owned(), value)),
    }
}

fn needs_value(meaning: Meaning<'_>) -> bool {
    match meaning {
        Meaning::Setting(..) => false,
        Meaning::Unsupported(option) => !option.is_switch,
        Meaning::Renamed(renamed) => !renamed.is_switch,
    }
}
