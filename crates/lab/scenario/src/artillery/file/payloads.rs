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
        let payload = Payload::parse(&text, names, order, form);
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
        let mut set = |key, to: &mut bool| {
            if let Some(part) = fields.get(key)
                && let Some(value) = part.boolean()
            {
                *to = value;
            }
        };
        set("skipHeader", &mut form.skips_header);
        set("cast", &mut form.casts);
        set("skipEmptyLines", &mut form.skips_empty_lines);
        if let Some(part) = fields.get("delimiter") {
            match part.text().map(str::as_bytes) {
                Some(&[delimiter]) if delimiter.is_ascii() => form.delimiter = delimiter,
                Some(_) => part.unexpected("one character, for example \";\""),
                None => {}
            }
        }
        form
    }
}
