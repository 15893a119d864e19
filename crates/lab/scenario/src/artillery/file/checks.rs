//! `config.ensure`: conditions at the end of a run, or all the time (`abortOnFail`).

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use serde_json::Value;

use super::reader::Reader;
use crate::{
    artillery::{
        condition::Condition,
        ensure::{Check, Ensure, is_metric},
        keys,
    },
    document::{Fields, Part},
};

/// Options by which a check ends the run, next to a threshold or a condition. The names are k6's.
const ABORT: &str = "abortOnFail";
const DELAY: &str = "delayAbortEval";

/// The older keys, about requests over HTTP.
const LEGACY: [&str; 5] = ["min", "max", "median", "p95", "p99"];

impl<'a> Reader<'a> {
    pub(super) fn read_ensure(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Ensure {
        let number_of = |part: &Part<'a>| self.config_number(part, variables);
        let Some(mut fields) = part.fields_of(&keys::ENSURE) else {
            return Ensure::default();
        };
        let mut checks = Vec::new();
        let thresholds = fields.get("thresholds").and_then(|part| part.list());
        for part in thresholds.into_iter().flatten() {
            let Some(mut fields) = part.fields_of(&keys::THRESHOLD) else {
                continue;
            };
            let aborts_after = self.read_abort(&mut fields);
            for (metric, part) in fields.all().filter(|(key, _)| ![ABORT, DELAY].contains(key)) {
                let Some(most) = number_of(&part) else { continue };
                checks.extend(self.check(
                    &part,
                    &format!("'{metric}' < {most}"),
                    format!("{metric} < {most}"),
                    true,
                    aborts_after,
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
                .and_then(|part| Some((part.clone(), number_of(&part)?)))
            {
                let text = format!("http.response_time.{key} < {most}");
                checks.extend(self.check(&part, &text, text.clone(), true, None));
            }
        }
        if let Some((part, most)) = fields
            .get("maxErrorRate")
            .and_then(|part| Some((part.clone(), number_of(&part)?)))
        {
            let text = format!("(vusers.created - vusers.completed) / vusers.created * 100 <= {most}");
            checks.extend(self.check(&part, &text, format!("maxErrorRate < {most}"), true, None));
        }
        fields.finish();
        Ensure { checks }
    }

    fn read_condition(&self, part: &Part<'a>) -> Option<Check> {
        let mut fields = part.fields_of(&keys::CONDITION)?;
        let is_strict = fields
            .get("strict")
            .and_then(|part| part.boolean())
            .unwrap_or(true);
        let expression = fields.require("expression", "a condition, for example vusers.failed < 1");
        let aborts_after = self.read_abort(&mut fields);
        if aborts_after.is_some() && !is_strict {
            part.mistake(
                "a check that can end the run must be strict; remove `strict: false` or `abortOnFail`",
            );
        }
        fields.finish();
        let part = expression?;
        let text = part.text()?;
        self.check(&part, text, text.to_owned(), is_strict, aborts_after)
    }

    /// From when on a check ends the run; `None` when it does not.
    fn read_abort(&self, fields: &mut Fields<'a>) -> Option<Duration> {
        let aborts = fields.get(ABORT).and_then(|part| part.boolean()) == Some(true);
        let delay = fields.get(DELAY);
        if let Some(part) = delay.as_ref().filter(|_| !aborts) {
            part.mistake("this only has an effect together with `abortOnFail: true`; add that");
        }
        let delay = delay.and_then(|part| self.duration(&part, &BTreeMap::new()));
        aborts.then(|| delay.unwrap_or_default())
    }

    fn check(
        &self,
        part: &Part<'a>,
        condition: &str,
        text: String,
        is_strict: bool,
        aborts_after: Option<Duration>,
    ) -> Option<Check> {
        let condition = Condition::from_str(condition);
        let condition = condition
            .inspect_err(|error| part.mistake(error.to_string()))
            .ok()?;
        for name in condition.names() {
            if let Err(hint) = is_metric(name)
                && !self.is_counted_by_functions(name)
            {
                part.mistake(format!("there is no metric `{name}`; {hint}"));
            }
        }
        Some(Check {
            condition,
            text,
            is_strict,
            aborts_after,
        })
    }

    /// Whether a functions' counter may have this name. Functions count under names of their own, which a check may use
    /// with one of the figures of a distribution.
    fn is_counted_by_functions(&self, name: &str) -> bool {
        let whole = name.rsplit_once('.').map_or(name, |(whole, _)| whole);
        self.may_be_of_functions(name) || self.may_be_of_functions(whole)
    }
}
