//! JSON Schemas of the files, for editors: generated from the tables of keys that the readers use.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    artillery,
    document::{Key, Kind, Rule, Shape},
    wsdirector,
};

/// The schema of wsdirector's scenarios. Like all schemas here it is of draft 7, which all editors support.
pub fn wsdirector() -> Value {
    // Tags are replaced by values before the file is read.
    schema(
        "A scenario of wsdirector, as plimsoll runs it",
        &wsdirector::FILE,
        Some("<%"),
    )
}

/// The schema of Artillery's files.
pub fn artillery() -> Value {
    schema(
        "A load test of Artillery, as plimsoll runs it",
        &artillery::FILE,
        None,
    )
}

/// The schema of a file. `placeholder` is a regular expression for texts that may replace numbers and the like.
fn schema(title: &str, file: &Kind, placeholder: Option<&'static str>) -> Value {
    let mut writer = Writer {
        placeholder,
        definitions: BTreeMap::new(),
    };
    let mut schema = writer.value(file);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = title.into();
    schema["definitions"] = json!(writer.definitions);
    schema
}

struct Writer {
    placeholder: Option<&'static str>,
    /// By their names.
    definitions: BTreeMap<String, Value>,
}

impl Writer {
    fn value(&mut self, kind: &Kind) -> Value {
        one_of(self.alternatives(kind))
    }

    /// Alternative schemas.
    fn alternatives(&mut self, kind: &Kind) -> Vec<Value> {
        let mut alternatives = match kind {
            Kind::Either(kinds) => kinds.iter().map(|kind| self.plain(kind)).collect(),
            kind => vec![self.plain(kind)],
        };
        if let Some(placeholder) = self.placeholder.filter(|_| alternatives.iter().all(is_scalar)) {
            match alternatives.iter_mut().find(|schema| takes_text(schema)) {
                None => alternatives.push(json!({ "type": "string", "pattern": placeholder })),
                Some(text) => {
                    if let Some(pattern) = text.get("pattern").and_then(Value::as_str) {
                        text["pattern"] = format!("{pattern}|{placeholder}").into();
                    }
                }
            }
        }
        alternatives
    }

    /// The schema of one kind, without placeholders.
    fn plain(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Any | Kind::Ignored(_) => json!({}),
            Kind::Refused(_) => json!({ "not": {} }),
            Kind::Text => json!({ "type": "string" }),
            Kind::Scalar => json!({ "type": ["string", "number", "boolean"] }),
            Kind::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
            Kind::Word(words) => json!({ "enum": words }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Number(least, most) => number(*least, *most),
            Kind::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Kind::Either(_) => self.value(kind),
            Kind::List(items) => json!({ "type": "array", "items": self.value(items) }),
            Kind::Table(values) => json!({ "type": "object", "additionalProperties": self.value(values) }),
            Kind::Map(shape) => self.reference(shape, Self::shape),
            Kind::Maps(shape) => json!({ "type": "array", "items": self.reference(shape, Self::shape) }),
            Kind::OneOrMore(shape) => {
                let one = self.reference(shape, Self::shape);
                json!({ "anyOf": [one, { "type": "array", "items": one }] })
            }
            Kind::Nested(shape) => {
                let (name, one) = (format!("{}s", shape.name), self.reference(shape, Self::shape));
                let several = json!({ "$ref": format!("#/definitions/{name}") });
                let list = json!({ "type": "array", "items": { "anyOf": [one, several] } });
                self.definitions.insert(name, list);
                several
            }
            Kind::Switch(key, cases) => self.switch(key, cases),
            Kind::Having(key, shape) => json!({
                "if": { "type": "object", "required": [key] },
                "then": self.reference(shape, Self::shape),
                "not": { "type": "null" },
            }),
            Kind::Step(shape) => self.reference(shape, Self::step),
        }
    }

    /// A reference to the definition of a shape, which is written once.
    fn reference(&mut self, shape: &'static Shape, define: fn(&mut Self, &'static Shape) -> Value) -> Value {
        if !self.definitions.contains_key(shape.name) {
            // A shape may contain itself.
            self.definitions.insert(shape.name.to_owned(), Value::Null);
            let definition = define(self, shape);
            self.definitions.insert(shape.name.to_owned(), definition);
        }
        json!({ "$ref": format!("#/definitions/{}", shape.name) })
    }

    fn shape(&mut self, shape: &'static Shape) -> Value {
        let properties: Map<_, _> = shape
            .keys
            .iter()
            .map(|key| {
                (
                    key.name.to_owned(),
                    self.property(key, is_alternative(shape, key)),
                )
            })
            .collect();
        let others = shape.rules.iter().find_map(|rule| match rule {
            Rule::FreeKeys(kind) => Some(self.value(kind)),
            _ => None,
        });
        let required = shape.keys.iter().filter(|key| key.is_required);
        let needs = shape.keys.iter().filter_map(|key| Some((key.name, [key.needs?])));
        let rules: Vec<_> = shape.rules.iter().filter_map(rule).collect();
        let mut schema = json!({
            "type": "object",
            "description": shape.about,
            "properties": properties,
            "additionalProperties": others.unwrap_or(Value::Bool(false)),
        });
        let parts = [
            (
                "required",
                json!(required.map(|key| key.name).collect::<Vec<_>>()),
            ),
            ("dependencies", json!(needs.collect::<BTreeMap<_, _>>())),
            ("allOf", json!(rules)),
        ];
        for (name, part) in parts {
            if part != json!([]) && part != json!({}) {
                schema[name] = part;
            }
        }
        schema
    }

    /// An optional key may also be empty, unless it is an alternative of which one is required.
    fn property(&mut self, key: &Key, is_alternative: bool) -> Value {
        let mut alternatives = self.alternatives(&key.kind);
        match (&key.kind, key.is_required || is_alternative) {
            (Kind::Any, true) => {
                alternatives = vec![json!({ "type": ["string", "number", "boolean", "array", "object"] })];
            }
            (Kind::Any | Kind::Ignored(_) | Kind::Refused(_) | Kind::Having(..), _) | (_, true) => {}
            (_, false) => alternatives.push(json!({ "type": "null" })),
        }
        let mut schema = one_of(alternatives);
        schema["description"] = key.about.into();
        schema
    }

    fn switch(&mut self, key: &str, cases: &[(&'static str, &'static Shape)]) -> Value {
        let [(_, usual), others @ ..] = cases else {
            return json!({});
        };
        let usual = self.reference(usual, Self::shape);
        others.iter().rev().fold(usual, |otherwise, (value, shape)| {
            json!({
                "if": { "type": "object", "required": [key], "properties": { key: { "const": value } } },
                "then": self.reference(shape, Self::shape),
                "else": otherwise,
            })
        })
    }

    fn step(&mut self, shape: &'static Shape) -> Value {
        let bare: Vec<_> = shape.keys.iter().filter(|key| is_bare(key)).collect();
        let properties: Map<_, _> = shape
            .keys
            .iter()
            .map(|key| {
                let mut alternatives = self.alternatives(&key.kind);
                if is_bare(key) {
                    alternatives.push(json!({ "type": "null" }));
                }
                let mut schema = one_of(alternatives);
                schema["description"] = key.about.into();
                (key.name.to_owned(), schema)
            })
            .collect();
        json!({
            "description": shape.about,
            "anyOf": [
                { "enum": bare.iter().map(|key| key.name).collect::<Vec<_>>() },
                {
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": false,
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ],
        })
    }
}

/// Whether a step has no settings.
fn is_bare(step: &Key) -> bool {
    let Kind::Map(shape) = step.kind else { return false };
    let needs_none = |rule: &Rule| !matches!(rule, Rule::AtLeastOne(_) | Rule::ExactlyOne(_));
    !shape.keys.iter().any(|key| key.is_required) && shape.rules.iter().all(needs_none)
}

fn is_scalar(schema: &Value) -> bool {
    let is_compound = |kind: &Value| kind == "array" || kind == "object";
    schema.get("enum").is_some() || schema.get("type").is_some_and(|kind| !is_compound(kind))
}

fn takes_text(schema: &Value) -> bool {
    let is_text = |kind: &Value| kind == "string";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_text),
        kind => kind.is_some_and(is_text),
    }
}

/// Combines schemas. For values of different types, it states the rules of each type.
fn one_of(mut alternatives: Vec<Value>) -> Value {
    let types: Vec<_> = alternatives.iter().map(|schema| &schema["type"]).collect();
    let has_enum = alternatives.iter().any(|schema| schema.get("enum").is_some());
    let is_distinct = types
        .iter()
        .enumerate()
        .all(|(position, kind)| !types[..position].contains(kind));
    match alternatives.len() {
        1 => alternatives.swap_remove(0),
        _ if has_enum || !is_distinct || types.contains(&&Value::Null) => json!({ "anyOf": alternatives }),
        _ => {
            let types = types.iter().flat_map(|kind| match kind {
                Value::Array(kinds) => kinds.clone(),
                kind => vec![(*kind).clone()],
            });
            let types: Vec<_> = types.collect();
            let keywords = alternatives.into_iter().filter_map(|schema| match schema {
                Value::Object(keywords) => Some(keywords),
                _ => None,
            });
            let mut merged: Map<_, _> = keywords.flatten().collect();
            merged.insert("type".to_owned(), types.into());
            Value::Object(merged)
        }
    }
}

/// Whether a key is an alternative of which one is required.
fn is_alternative(shape: &Shape, key: &Key) -> bool {
    let names = |rule: &Rule| matches!(rule, Rule::ExactlyOne(names) if names.contains(&key.name));
    shape.rules.iter().any(names)
}

fn number(least: f64, most: f64) -> Value {
    let mut schema = json!({ "type": "number" });
    for (name, bound) in [("minimum", least), ("maximum", most)] {
        if bound.is_finite() {
            schema[name] = bound.into();
        }
    }
    schema
}

fn rule(rule: &Rule) -> Option<Value> {
    let each =
        |keys: &[&str]| -> Vec<Value> { keys.iter().map(|key| json!({ "required": [key] })).collect() };
    Some(match rule {
        Rule::FreeKeys(_) => return None,
        Rule::ExactlyOne(keys) => json!({ "oneOf": each(keys) }),
        Rule::AtLeastOne(keys) => json!({ "anyOf": each(keys) }),
        Rule::AtMostOne(keys) => {
            let others = |position: usize| keys[position + 1..].iter();
            let pairs = keys.iter().enumerate().flat_map(|(position, one)| {
                others(position).map(move |other| json!({ "required": [one, other] }))
            });
            json!({ "not": { "anyOf": pairs.collect::<Vec<_>>() } })
        }
    })
}

#[cfg(test)]
mod tests;
