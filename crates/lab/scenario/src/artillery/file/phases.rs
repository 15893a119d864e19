//! `config.phases` (docs/reference/artillery.md, Arrivals).

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::{Reader, number};
use crate::{
    artillery::{
        keys,
        phase::{Kind, MOST_USERS, Phase, Rate, Spacing},
    },
    document::{Fields, Part, Shape},
};

const EXPECTED: &str = "`arrivalRate`, `arrivalCount`, `rampTo`, `users` or `pause`, for example { duration: 60, arrivalRate: 10 }";

/// The settings of a phase for its number of users.
struct Numbers<'a> {
    rate: Option<Part<'a>>,
    ramp_to: Option<Part<'a>>,
    count: Option<Part<'a>>,
    users: Option<Part<'a>>,
}

impl<'a> Reader<'a> {
    /// `mode` is the default spacing.
    pub(super) fn read_phases(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
        mode: Spacing,
    ) -> Option<Vec<Phase>> {
        let parts: Vec<_> = part.list()?.collect();
        let phases = parts
            .iter()
            .filter_map(|part| self.read_phase(part, variables, mode, &keys::PHASE));
        let phases: Vec<_> = phases.collect();
        // The users of an invalid phase are unknown.
        if phases.len() == parts.len() && !phases.iter().any(Phase::has_users) {
            part.mistake(format!(
                "no user would ever arrive; expected a phase with {EXPECTED}"
            ));
        }
        Some(phases)
    }

    /// Reads the phases of an environment for their mistakes. Missing keys are those of the configuration.
    pub(super) fn read_parts_of_phases(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
        mode: Spacing,
    ) {
        for part in part.list().into_iter().flatten() {
            let _incomplete = self.read_phase(&part, variables, mode, &keys::PART_OF_PHASE);
        }
    }

    fn read_phase(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
        mode: Spacing,
        shape: &'static Shape,
    ) -> Option<Phase> {
        let is_whole = std::ptr::eq(shape, &keys::PHASE);
        let mut fields = part.fields_of(shape)?;
        let name = fields
            .get("name")
            .and_then(|part| self.config_text(&part, variables));
        let spacing = self.read_mode(fields.get("mode")).unwrap_or(mode);
        let duration = fields.get("duration").map(|part| self.duration(&part, variables));
        let pause = fields.get("pause").map(|part| self.duration(&part, variables));
        let numbers = Numbers::of(&mut fields);
        let max_vusers = fields.get("maxVusers");
        fields.finish();
        if let Some(pause) = pause {
            if numbers.are_there() {
                part.mistake("no user arrives during a `pause`; write the arrivals as a separate phase");
            }
            return Some(Phase {
                name,
                duration: pause?,
                kind: Kind::Pause,
                spacing,
                max_vusers: None,
            });
        }
        if let (Some(_), Some(part)) = (&numbers.users, &max_vusers) {
            part.mistake("`users` already limits the number of users; remove `maxVusers`");
        }
        let max_vusers = max_vusers.map(|part| self.whole(&part, variables));
        if !is_whole && (duration.is_none() || !numbers.are_there()) {
            return None;
        }
        let kind = self.read_kind(part, &numbers, variables);
        let Some(duration) = duration else {
            part.mistake("`duration` is missing: expected seconds, for example duration: 60");
            return None;
        };
        let phase = Phase {
            name,
            duration: duration?,
            kind: kind?,
            spacing,
            max_vusers: max_vusers.flatten().map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        };
        if let Err(error) = phase.arrivals() {
            part.mistake(error.to_string());
        }
        Some(phase)
    }

    /// The users of a phase. Reports if there are none, or if the settings are impossible.
    fn read_kind(
        &self,
        part: &Part<'a>,
        numbers: &Numbers<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Option<Kind> {
        let Numbers {
            rate,
            ramp_to,
            count,
            users,
        } = numbers;
        let rate_of = |part: &Part<'a>| self.rate(part, variables);
        let users_of = |part: &Part<'a>| self.users(part, variables);
        match (rate, ramp_to, count, users) {
            (None, None, Some(count), None) => self.whole(count, variables).map(Kind::Count),
            (Some(rate), None, None, None) => rate_of(rate).map(Kind::Rate),
            (rate, Some(to), None, None) => {
                let from = rate.as_ref().map_or(Some(Rate::default()), rate_of);
                let to = rate_of(to);
                Some(Kind::Ramp(from?, to?))
            }
            (None, None, None, Some(users)) => users_of(users).map(Kind::Users),
            (None, Some(to), None, Some(users)) => {
                let (from, to) = (users_of(users), users_of(to));
                Some(Kind::RampingUsers(from?, to?))
            }
            (None, None, None, None) => {
                part.mistake(format!("no user arrives in this phase; expected {EXPECTED}"));
                None
            }
            (_, _, _, Some(_)) => {
                part.mistake(
                    "`users` keeps a constant number of users, without an arrival rate; use it alone or with \
                     `rampTo`",
                );
                None
            }
            (_, _, Some(_), _) => {
                part.mistake(
                    "`arrivalCount` cannot be combined with `arrivalRate` or `rampTo`; keep one of them",
                );
                None
            }
        }
    }

    fn users(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<u32> {
        let users = u32::try_from(self.whole(part, variables)?);
        let users = users.ok().filter(|users| *users <= MOST_USERS);
        if users.is_none() {
            part.unexpected(&format!(
                "a number of users from 0 to {MOST_USERS}, for example 100"
            ));
        }
        users
    }

    /// The spacing of users that arrive at a rate. `None` if it is not set.
    pub(super) fn read_mode(&self, part: Option<Part<'a>>) -> Option<Spacing> {
        let part = part?;
        let spacing = self.spacing(part.text()?);
        if spacing.is_none() {
            part.unexpected("uniform or poisson");
        }
        spacing
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

impl<'a> Numbers<'a> {
    fn of(fields: &mut Fields<'a>) -> Self {
        Self {
            rate: fields.get("arrivalRate"),
            ramp_to: fields.get("rampTo"),
            count: fields.get("arrivalCount"),
            users: fields.get("users"),
        }
    }

    fn are_there(&self) -> bool {
        let all = [&self.rate, &self.ramp_to, &self.count, &self.users];
        all.into_iter().any(Option::is_some)
    }
}
