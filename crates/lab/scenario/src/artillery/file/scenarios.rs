//! `scenarios`, `before` and `after`.

use plimsoll_load::nearest::nearest;
use regex::Regex;

use super::{
    config::Settings,
    reader::{Reader, json_of},
};
use crate::{
    artillery::{
        flow::Flow,
        http::RequestHooks,
        keys,
        program::{Engine, Reads, ScenarioFlow},
    },
    document::{Fields, Part, Value},
};

/// Artillery's default.
const DEFAULT_ENGINE: &str = "http";

impl<'a> Reader<'a> {
    pub(super) fn read_scenarios(&self, part: &Part<'a>, settings: &Settings) -> Option<Vec<ScenarioFlow>> {
        let parts: Vec<_> = part.list()?.collect();
        if parts.is_empty() {
            part.mistake("there is no scenario; expected at least one with a `flow`");
        }
        let scenarios = parts.iter().enumerate();
        let scenarios = scenarios.map(|(position, part)| self.read_scenario(part, position, settings));
        // All of them are read before an invalid one ends it.
        let scenarios: Vec<_> = scenarios.collect();
        let scenarios: Vec<_> = scenarios.into_iter().collect::<Option<_>>()?;
        self.chosen(part, scenarios)
    }

    /// The scenario that `--scenario-name` names, or all.
    fn chosen(&self, part: &Part<'a>, scenarios: Vec<ScenarioFlow>) -> Option<Vec<ScenarioFlow>> {
        let Some(name) = &self.surroundings.scenario_name else {
            if scenarios.iter().all(|scenario| scenario.weight == 0) {
                part.mistake("all weights are 0, so no user would run a scenario");
            }
            return Some(scenarios);
        };
        let names: Vec<_> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
        let is_exact = names.contains(name);
        // As in Artillery, a name that no scenario has is a pattern.
        let pattern = Regex::new(name).ok().filter(|_| !is_exact);
        let is_meant = |scenario: &ScenarioFlow| match &pattern {
            Some(pattern) => pattern.is_match(&scenario.name),
            None => scenario.name == *name,
        };
        let mut chosen: Vec<_> = scenarios.into_iter().filter(is_meant).collect();
        if chosen.len() != 1 {
            let hint = match nearest(name, names.iter().map(String::as_str)) {
                Some(nearest) if chosen.is_empty() => format!("did you mean `{nearest}`?"),
                _ => format!("there are: {}", names.join(", ")),
            };
            part.mistake(format!(
                "--scenario-name {name:?} matches {} scenarios instead of one; {hint}",
                chosen.len()
            ));
            return None;
        }
        chosen[0].weight = 1;
        Some(chosen)
    }

    fn read_scenario(&self, part: &Part<'a>, position: usize, settings: &Settings) -> Option<ScenarioFlow> {
        let mut fields = part.fields_of(&keys::SCENARIO)?;
        let name = fields
            .get("name")
            .and_then(|part| self.config_text(&part, &settings.variables));
        let name = name.unwrap_or_else(|| position.to_string());
        let weight = fields
            .get("weight")
            .map_or(Some(1), |part| self.weight(&part, settings));
        let scenario = self.read_flow_of(&mut fields, settings, name, weight?);
        fields.finish();
        scenario
    }

    fn weight(&self, part: &Part<'a>, settings: &Settings) -> Option<u64> {
        let value = self.config_value(part, &settings.variables)?;
        let weight = match &value {
            serde_json::Value::Number(number) => number.as_f64(),
            serde_json::Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        // Hundredths, as in Artillery, so that half a weight is valid.
        let weight = weight
            .filter(|weight| (0.0..1e6).contains(weight))
            .map(|weight| (weight * 100.0).round() as u64);
        if weight.is_none() {
            part.unexpected("a weight, for example 2");
        }
        weight
    }

    /// `before` or `after`.
    pub(super) fn read_stage(&self, part: &Part<'a>, settings: &Settings) -> Option<ScenarioFlow> {
        let mut fields = part.fields_of(&keys::STAGE)?;
        let stage = self.read_flow_of(&mut fields, settings, String::new(), 1);
        fields.finish();
        stage
    }

    fn read_flow_of(
        &self,
        fields: &mut Fields<'a>,
        settings: &Settings,
        name: String,
        weight: u64,
    ) -> Option<ScenarioFlow> {
        let engine = match fields.get("engine") {
            Some(part) => engine(&part, part.text()?),
            None => {
                let name = settings.engine.as_deref().unwrap_or(DEFAULT_ENGINE);
                engine(fields.part(), name)
            }
        };
        let [before, after] = ["beforeScenario", "afterScenario"].map(|key| self.functions(fields.get(key)));
        let n_names = self.n_names();
        let mut flow = Flow {
            hooks: self.scenario_hooks(fields, engine),
            ..Flow::default()
        };
        let part = fields.require("flow", "a list of steps, for example [{ send: hello }]");
        if let (Some(part), Some(engine)) = (part, engine) {
            self.read_flow(&part, engine, settings, &mut flow);
        }
        let calls_functions = flow.calls_functions || !before.is_empty() || !after.is_empty();
        let specification = calls_functions.then(|| json_of(fields.part()).to_string().into());
        Some(ScenarioFlow {
            reads: if calls_functions {
                Reads::All
            } else {
                Reads::These(self.names_since(n_names))
            },
            specification,
            before,
            after,
            created: format!("vusers.created_by_name.{name}"),
            name,
            weight,
            engine: engine?,
            flow,
        })
    }
}

impl<'a> Reader<'a> {
    /// Functions around the requests of a scenario.
    fn scenario_hooks(&self, fields: &mut Fields<'a>, engine: Option<Engine>) -> RequestHooks {
        if engine == Some(Engine::WebSocket) {
            for key in ["beforeRequest", "afterResponse", "onError"] {
                if let Some(part) = fields.get(key) {
                    self.warn(&part, "has no effect: there are no requests in the engine `ws`");
                }
            }
        }
        let hooks = self.request_hooks(fields, &RequestHooks::default());
        RequestHooks {
            on_error: self.functions(fields.get("onError")),
            ..hooks
        }
    }
}

/// Engines of Artillery that are not supported, with alternatives.
pub const ABSENT_ENGINES: [(&str, &str); 2] = [("socketio", OTHER_ENGINES), ("playwright", OTHER_ENGINES)];

const OTHER_ENGINES: &str = "expected http or ws, or the test as a script (`plimsoll new`)";

fn engine(part: &Part<'_>, name: &str) -> Option<Engine> {
    match name {
        "ws" => Some(Engine::WebSocket),
        "http" => Some(Engine::Http),
        _ => {
            let is_here = matches!(&part.node().value, Value::Text(_));
            let of = if is_here { "" } else { ", which is the default," };
            part.mistake(format!(
                "the engine `{name}`{of} is not supported; {OTHER_ENGINES}"
            ));
            None
        }
    }
}
