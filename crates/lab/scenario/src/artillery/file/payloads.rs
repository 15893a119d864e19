//! `config.payload`: tables of variables.

use std::path::PathBuf;

use super::{
    config::{Settings, one_or_more},
    reader::Reader,
};
use crate::{
    artillery::{
        keys,
        payload::{Form, Order, Payload},
    },
    document::{Fields, Part, Value as Written},
};

impl<'a> Reader<'a> {
    pub(super) fn read_payloads(&self, part: &Part<'a>, settings: &mut Settings) {
        if self.surroundings.payload.is_some()
            && !settings.is_scrap
            && matches!(part.node().value, Written::List(_))
        {
            part.mistake(
                "--payload gives the path of one table, but this is a list; write the paths into the file",
            );
            return;
        }
        for part in one_or_more(part) {
            self.read_payload(&part, settings);
        }
    }

    /// The file of a table: the part that names it, and its path as written and resolved.
    fn payload_file(
        &self,
        part: &Part<'a>,
        fields: &mut Fields<'a>,
        settings: &Settings,
    ) -> Option<(Part<'a>, String, PathBuf)> {
        let Some(flag) = &self.surroundings.payload else {
            let path = fields.require(
                "path",
                "the path of a CSV file, for example users.csv, or --payload",
            )?;
            let text = self.config_text(&path, &settings.variables)?;
            let full = self.surroundings.resolve(&text);
            return Some((path, text, full));
        };
        let text = flag.display().to_string();
        // As in Artillery: relative to this folder, but to that of the file if the file has a path, too.
        let full = fields
            .get("path")
            .map_or_else(|| flag.clone(), |_| self.surroundings.resolve(&text));
        Some((part.clone(), text, full))
    }

    fn read_payload(&self, part: &Part<'a>, settings: &mut Settings) -> Option<()> {
        let mut fields = part.fields_of(if settings.is_scrap {
            &keys::PART_OF_PAYLOAD
        } else {
            &keys::PAYLOAD
        })?;
        let file = self.payload_file(part, &mut fields, settings);
        let names = if settings.is_scrap {
            fields.get("fields")
        } else {
            fields.require("fields", "the names of the columns, for example [user, password]")
        };
        let names: Option<Vec<_>> =
            names.and_then(|part| part.list()?.map(|part| part.text().map(str::to_owned)).collect());
        let order = match fields.get("order") {
            None => Order::default(),
            Some(part) => match part.text()? {
                "random" => Order::Random,
                "sequence" => Order::Sequence,
                _ => {
                    part.unexpected("random or sequence");
                    return None;
                }
            },
        };
        let form = self.form(&mut fields);
        let loads_all = fields.get("loadAll").and_then(|part| part.boolean()) == Some(true);
        let name = fields.get("name").and_then(|part| part.text());
        self.finish(fields);
        let ((path, path_text, full), names) = (file?, names?);
        if loads_all {
            name.into_iter().for_each(|name| self.sets(name));
        } else {
            names.iter().for_each(|name| self.sets(name));
        }
        let text = (self.surroundings.read_file)(&full);
        let text = text
            .inspect_err(|error| path.mistake(format!("cannot read {}: {error}", full.display())))
            .ok()?;
        let payload = Payload::parse(&text, names, order, &form);
        let payload = payload
            .inspect_err(|error| path.mistake(format!("{path_text}: {error}")))
            .ok()?;
        match (loads_all, name) {
            (false, _) => settings.payloads.push(payload),
            (true, Some(name)) => settings.tables.push((name.to_owned(), payload.into_objects())),
            (true, None) => part.mistake("`loadAll` needs a `name` for the variable that holds the table"),
        }
        Some(())
    }

    fn form(&self, fields: &mut Fields<'a>) -> Form {
        let mut form = Form::default();
        if is_true(fields.get("skipHeader")) {
            form.first_line = 2;
        }
        set(fields.get("cast"), Part::boolean, &mut form.casts);
        set(
            fields.get("skipEmptyLines"),
            Part::boolean,
            &mut form.skips_empty_lines,
        );
        set(fields.get("delimiter"), some_text, &mut form.delimiter);
        let options = fields.get("options");
        if let Some(mut options) = options.and_then(|part| part.fields_of(&keys::CSV)) {
            read_options(&mut options, &mut form);
            self.finish(options);
        }
        form
    }
}

/// The options of Node's parser, with its names; they have precedence over the keys beside them.
fn read_options(options: &mut Fields<'_>, form: &mut Form) {
    set(options.get("delimiter"), some_text, &mut form.delimiter);
    set(options.get("quote"), character, &mut form.quote);
    set(options.get("escape"), character, &mut form.escape);
    set(
        options.get("comment"),
        |part| some_text(part).map(Some),
        &mut form.comment,
    );
    set(options.get("cast"), Part::boolean, &mut form.casts);
    set(
        options.get("skip_empty_lines"),
        Part::boolean,
        &mut form.skips_empty_lines,
    );
    set(
        options.get("relax_column_count"),
        Part::boolean,
        &mut form.is_ragged,
    );
    if is_true(options.get("trim")) {
        (form.trims_start, form.trims_end) = (true, true);
    }
    set(options.get("ltrim"), Part::boolean, &mut form.trims_start);
    set(options.get("rtrim"), Part::boolean, &mut form.trims_end);
    set(options.get("from_line"), position, &mut form.first_line);
    set(options.get("to_line"), position, &mut form.last_line);
    set(options.get("from"), position, &mut form.first_row);
    set(options.get("to"), position, &mut form.last_row);
    // Values with quotes inside and byte-order marks are always read.
    for key in ["relax", "bom"] {
        let _whatever = options.get(key).map(|part| part.boolean());
    }
}

fn set<'a, T>(part: Option<Part<'a>>, read: impl FnOnce(&Part<'a>) -> Option<T>, to: &mut T) {
    if let Some(value) = part.and_then(|part| read(&part)) {
        *to = value;
    }
}

fn is_true(part: Option<Part<'_>>) -> bool {
    part.and_then(|part| part.boolean()) == Some(true)
}

fn some_text(part: &Part<'_>) -> Option<String> {
    let text = part.text()?;
    if text.is_empty() {
        part.unexpected("at least one character, for example \";\"");
        return None;
    }
    Some(text.to_owned())
}

/// One character; `false` for none.
fn character(part: &Part<'_>) -> Option<Option<char>> {
    part.read("one character, or false for none", |value| match value {
        Written::Boolean(false) => Some(None),
        Written::Text(text) => {
            let mut characters = text.chars();
            let first = characters.next();
            characters.next().is_none().then_some(first)
        }
        _ => None,
    })
}

/// A line or a row, from 1.
fn position(part: &Part<'_>) -> Option<usize> {
    let position = usize::try_from(part.whole()?)
        .ok()
        .filter(|position| *position > 0);
    if position.is_none() {
        part.unexpected("a number from 1, for example 2");
    }
    position
}
