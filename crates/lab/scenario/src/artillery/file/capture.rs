//! `capture` and `match`: one of them, or a list.

use regex::bytes::RegexBuilder;
use serde_json_path::JsonPath;

use super::{config::one_or_more, reader::Reader};
use crate::{
    artillery::{
        capture::{Capture, Group, Match, Source},
        keys,
        selectors::Position,
    },
    document::{Fields, Part, Value},
};

/// The size limit of a compiled regular expression. Reason: a mistake must not take all memory.
const LARGEST_REGEX_BYTES: usize = 1 << 20;

const EXPECTED: &str = "one of `json`, `regexp`, `header` and `selector`, for example { json: $.id, as: id }";

impl<'a> Reader<'a> {
    pub(super) fn read_captures(&self, part: &Part<'a>) -> Vec<Capture> {
        let parts = one_or_more(part).into_iter();
        parts.filter_map(|part| self.read_capture(&part)).collect()
    }

    fn read_capture(&self, part: &Part<'a>) -> Option<Capture> {
        let mut fields = part.fields_of(&keys::CAPTURE)?;
        let name = fields.require("as", "the name of the variable, for example as: id");
        let name = name.and_then(|part| part.text());
        name.into_iter().for_each(|name| self.sets(name));
        let is_strict = fields
            .get("strict")
            .and_then(|part| part.boolean())
            .unwrap_or(self.captures_strictly.get());
        let source = self.source(&mut fields);
        fields.finish();
        Some(Capture {
            source: source?,
            name: name?.to_owned(),
            is_strict,
        })
    }

    pub(super) fn read_matches(&self, part: &Part<'a>) -> Vec<Match> {
        let parts = one_or_more(part).into_iter();
        parts.filter_map(|part| self.read_match(&part)).collect()
    }

    fn read_match(&self, part: &Part<'a>) -> Option<Match> {
        let mut fields = part.fields_of(&keys::MATCH)?;
        let value = fields.require("value", "the expected value, for example value: pong");
        let value = value.and_then(|part| self.json(&part));
        if fields.get("strict").and_then(|part| part.boolean()) == Some(false) {
            part.mistake("a `match` that is not strict has no effect; remove it");
        }
        let source = self.source(&mut fields);
        fields.finish();
        Some(Match {
            source: source?,
            value: value?,
        })
    }

    fn source(&self, fields: &mut Fields<'a>) -> Option<Source> {
        if fields.part().node().value.get("xpath").is_some() {
            // The refusal is the only error for it.
            return None;
        }
        if let Some(part) = fields.get("selector") {
            return self.page_source(&part, fields);
        }
        let [json, regexp, header] = ["json", "regexp", "header"].map(|key| fields.get(key));
        let takes_any = fields
            .get("multiple")
            .and_then(|part| part.boolean())
            .unwrap_or(true);
        let flags = fields.get("flags").and_then(|part| part.text());
        let group = fields.get("group").and_then(|part| group(&part));
        match (json, regexp, header) {
            (Some(part), None, None) => {
                let text = part.text()?;
                let path = JsonPath::parse(text);
                let path = path.inspect_err(|error| {
                    part.mistake(format!(
                        "this is not a JSONPath: {error}; expected something like $.items[0].id"
                    ));
                });
                Some(Source::Json {
                    path: path.ok()?,
                    takes_any,
                    is_plural: ["*", "..", "?", ":", ","].iter().any(|sign| text.contains(sign)),
                })
            }
            (None, Some(part), None) => regexp_source(&part, flags.unwrap_or_default(), group),
            (None, None, Some(part)) => Some(Source::Header(part.text()?.to_owned())),
            _ => {
                fields.part().mistake(format!("expected {EXPECTED}"));
                None
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// `selector` with `attr` and `index`.
    fn page_source(&self, part: &Part<'a>, fields: &mut Fields<'a>) -> Option<Source> {
        let attribute = fields.get("attr").and_then(|part| part.text());
        let position = fields
            .get("index")
            .map_or(Some(Position::At(0)), |part| position(&part));
        let selector = (self.surroundings.read_selector)(part.text()?);
        let selector = selector.inspect_err(|problem| part.mistake(problem.clone()));
        Some(Source::Page {
            selector: selector.ok()?,
            position: position?,
            attribute: attribute.map(str::to_owned),
        })
    }
}

fn position(part: &Part<'_>) -> Option<Position> {
    part.read(
        "the index of an element from 0, last or random",
        |value| match value {
            Value::Number(number) => Some(Position::At(usize::try_from(number.as_u64()?).ok()?)),
            Value::Text(text) => match text.as_str() {
                "last" => Some(Position::Last),
                "random" => Some(Position::Random),
                text => text.parse().ok().map(Position::At),
            },
            _ => None,
        },
    )
}

fn group(part: &Part<'_>) -> Option<Group> {
    part.read(
        "the number or the name of a group, for example 1",
        |value| match value {
            Value::Number(number) => Some(Group::Number(usize::try_from(number.as_u64()?).ok()?)),
            Value::Text(name) => Some(
                name.parse()
                    .map_or_else(|_| Group::Name(name.clone()), Group::Number),
            ),
            _ => None,
        },
    )
}

fn regexp_source(part: &Part<'_>, flags: &str, group: Option<Group>) -> Option<Source> {
    let regex = RegexBuilder::new(part.text()?)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(LARGEST_REGEX_BYTES)
        .build();
    let regex = regex.inspect_err(|error| {
        let error = error.to_string();
        // The last line is the reason; those before it show the expression.
        let reason = error.lines().last().unwrap_or_default();
        part.mistake(format!(
            "this regular expression is not supported (look-around and back-references are not): {reason}"
        ));
    });
    Some(Source::Regexp {
        regex: regex.ok()?,
        group: group.unwrap_or(Group::Number(0)),
    })
}
