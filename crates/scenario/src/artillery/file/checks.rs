//! `config.ensure`: what must hold at the end of a run (load-tools spec §2.12).

use std::str::FromStr;

use super::reader::Reader;
use crate::{
    artillery::{
        condition::Condition,
        ensure::{Check, Ensure, is_metric},
    },
    document::{Fields, Part},
};

/// The older keys, about requests over HTTP.
const LEGACY: [&str; 5] = ["min", "max", "median", "p95", "p99"];

impl<'a> Reader<'a> {
    pub(super) fn read_ensure(&self, part: &Part<'a>) -> Ensure {
        let Some(mut fields) = part.fields() else {
            return Ensure::default();
        };
        let mut checks = Vec::new();
        let thresholds = fields.get("thresholds").and_then(|part| part.list());
        for part in thresholds.into_iter().flatten() {
            let fields = part.fields();
            for (metric, part) in fields.iter().flat_map(Fields::all) {
                let Some(most) = part.number() else { continue };
                checks.extend(self.check(
                    &part,
                    &format!("'{metric}' < {most}"),
                    format!("{metric} < {most}"),
                    true,
                ));
            }
        }
        let conditions = fields.get("conditions").and_then(|part| part.list());
        checks.extend(
            conditions
                .into_iter()
                .flatten()
                .filter_map(|part| self.read_condition(&part)),
        );
        for key in LEGACY {
            if let Some((part, most)) = fields
                .get(key)
                .and_then(|part| Some((part.clone(), part.number()?)))
            {
                let text = format!("http.response_time.{key} < {most}");
                checks.extend(self.check(&part, &text, text.clone(), true));
            }
        }
        if let Some((part, most)) = fields
            .get("maxErrorRate")
            .and_then(|part| Some((part.clone(), part.number()?)))
        {
            let text = format!("(vusers.created - vusers.completed) / vusers.created * 100 <= {most}");
            checks.extend(self.check(&part, &text, format!("maxErrorRate < {most}"), true));
        }
        fields.finish();
        Ensure { checks }
    }

    fn read_condition(&self, part: &Part<'a>) -> Option<Check> {
        let mut fields = part.fields()?;
        let is_strict = fields
            .get("strict")
            .and_then(|part| part.boolean())
            .unwrap_or(true);
        let expression = fields.require("expression", "a condition, for example vusers.failed < 1");
        fields.finish();
        let part = expression?;
        let text = part.text()?;
        self.check(&part, text, text.to_owned(), is_strict)
    }

    fn check(&self, part: &Part<'a>, condition: &str, text: String, is_strict: bool) -> Option<Check> {
        let condition = Condition::from_str(condition);
        let condition = condition
            .inspect_err(|error| part.mistake(error.to_string()))
            .ok()?;
        for name in condition.names() {
            if let Err(hint) = is_metric(name) {
                part.mistake(format!("there is no metric `{name}`; {hint}"));
            }
        }
        Some(Check {
            condition,
            text,
            is_strict,
        })
    }
}
