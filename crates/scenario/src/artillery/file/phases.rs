//! `config.phases` (load-tools spec §2.3).

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::Reader;
use crate::{
    artillery::phase::{Kind, Phase, Rate},
    document::Part,
};

const EXPECTED: &str =
    "`arrivalRate`, `arrivalCount`, `rampTo` or `pause`, for example { duration: 60, arrivalRate: 10 }";

impl<'a> Reader<'a> {
    pub(super) fn read_phases(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Option<Vec<Phase>> {
        let phases = part.list()?.filter_map(|part| self.read_phase(&part, variables));
        let phases: Vec<_> = phases.collect();
        let n_users = phases.iter().filter_map(|phase| phase.arrivals().ok().flatten());
        if n_users.count() == 0 {
            part.mistake(format!(
                "nobody would ever arrive; expected a phase with {EXPECTED}"
            ));
        }
        Some(phases)
    }

    fn read_phase(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Phase> {
        let mut fields = part.fields()?;
        let name = fields
            .get("name")
            .and_then(|part| self.config_text(&part, variables));
        let mode = fields.get("mode");
        self.read_mode(mode);
        let duration = fields.get("duration").map(|part| self.duration(&part, variables));
        let pause = fields.get("pause").map(|part| self.duration(&part, variables));
        let rate = fields.get("arrivalRate").map(|part| self.rate(&part, variables));
        let ramp_to = fields.get("rampTo").map(|part| self.rate(&part, variables));
        let count = fields
            .get("arrivalCount")
            .map(|part| self.whole(&part, variables));
        let max_vusers = fields.get("maxVusers").map(|part| self.whole(&part, variables));
        fields.finish();
        if let Some(pause) = pause {
            if rate.is_some() || ramp_to.is_some() || count.is_some() {
                part.mistake("nobody arrives in a `pause`; write the arrivals as a phase of their own");
            }
            return Some(Phase {
                name,
                duration: pause?,
                kind: Kind::Pause,
                max_vusers: None,
            });
        }
        let kind = match (rate, ramp_to, count) {
            (None, None, Some(count)) => Kind::Count(count?),
            (Some(rate), None, None) => Kind::Rate(rate?),
            (rate, Some(to), None) => Kind::Ramp(rate.unwrap_or(Some(Rate::default()))?, to?),
            (None, None, None) => {
                part.mistake(format!("it says not who arrives; expected {EXPECTED}"));
                return None;
            }
            (_, _, Some(_)) => {
                part.mistake(
                    "`arrivalCount` cannot stand beside `arrivalRate` or `rampTo`; keep one of them",
                );
                return None;
            }
        };
        let Some(duration) = duration else {
            part.mistake("`duration` is missing: expected seconds, for example duration: 60");
            return None;
        };
        let phase = Phase {
            name,
            duration: duration?,
            kind,
            max_vusers: max_vusers.flatten().map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        };
        if let Err(error) = phase.arrivals() {
            part.mistake(error.to_string());
        }
        Some(phase)
    }

    fn rate(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Rate> {
        let value = self.config_value(part, variables)?;
        let rate = number(&value).and_then(Rate::per_second);
        if rate.is_none() {
            part.unexpected("users per second, for example 10 or 0.5");
        }
        rate
    }

    fn whole(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<u64> {
        let value = self.config_value(part, variables)?;
        let whole = number(&value).filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number));
        if whole.is_none() {
            part.unexpected("a whole number, for example 10");
        }
        whole.map(|number| number as u64)
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
