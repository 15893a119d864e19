//! `formData`: forms with files.

use std::sync::Arc;

use super::{config::is_map, reader::Reader};
use crate::{
    artillery::{
        http::{Content, Field, Files, LARGEST_FILE},
        keys,
    },
    document::{Fields, Part},
};

impl<'a> Reader<'a> {
    pub(super) fn form_data(&self, part: &Part<'a>) -> Vec<Field> {
        let fields = part.fields();
        let entries = fields.iter().flat_map(Fields::all);
        entries
            .filter_map(|(name, part)| self.field(name, &part))
            .collect()
    }

    /// A value, or `{ value, contentType }`, or `{ fromFile, contentType }`.
    fn field(&self, name: &str, part: &Part<'a>) -> Option<Field> {
        let name = name.to_owned();
        if !is_map(part) {
            return Some(Field {
                name,
                content: Content::Value(self.json(part)?),
                content_type: None,
            });
        }
        let mut fields = part.fields_of(&keys::FIELD)?;
        let content_type = fields.get("contentType").and_then(|part| self.template(&part));
        let content = match (fields.get("fromFile"), fields.get("value")) {
            (Some(part), None) => self.file(&part),
            (None, Some(part)) => self.json(&part).map(Content::Value),
            _ => {
                part.mistake("expected one of `fromFile` and `value`, for example { fromFile: ./cat.png }");
                None
            }
        };
        fields.finish();
        Some(Field {
            name,
            content: content?,
            content_type,
        })
    }

    fn file(&self, part: &Part<'a>) -> Option<Content> {
        let written = part.text()?;
        if written.contains("{{") {
            let path = self.template(part)?;
            self.reads_late(part);
            let files = Files::new(self.surroundings.path, Arc::clone(&self.surroundings.read_bytes));
            return Some(Content::Named {
                path,
                files: Arc::new(files),
            });
        }
        let path = self.surroundings.resolve(written);
        let bytes = (self.surroundings.read_bytes)(&path, LARGEST_FILE + 1);
        let bytes = bytes
            .inspect_err(|error| part.mistake(format!("cannot read {}: {error}", path.display())))
            .ok()?;
        if bytes.len() as u64 > LARGEST_FILE {
            part.mistake(format!(
                "{} is larger than 64 MiB; send a smaller file",
                path.display()
            ));
            return None;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Some(Content::File {
            name: name.into_owned(),
            bytes: bytes.into(),
        })
    }
}
