//! `scenarios`, `before` and `after` (load-tools spec §2.4).

use plimsoll_load::nearest::nearest;

use super::{config::Settings, reader::Reader};
use crate::{
    artillery::{
        flow::Flow,
        program::{Engine, ScenarioFlow},
    },
    document::{Fields, Part, Value},
};

/// Functions of a processor, which there is none of.
const HOOKS: [&str; 5] = [
    "beforeScenario",
    "afterScenario",
    "beforeRequest",
    "afterResponse",
    "onError",
];

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
        // All of them are read before one that is wrong ends it.
        let scenarios: Vec<_> = scenarios.collect();
        let scenarios: Vec<_> = scenarios.into_iter().collect::<Option<_>>()?;
        self.chosen(part, scenarios)
    }

    /// The scenario that `--scenario-name` names, or all.
    fn chosen(&self, part: &Part<'a>, scenarios: Vec<ScenarioFlow>) -> Option<Vec<ScenarioFlow>> {
        let Some(name) = &self.surroundings.scenario_name else {
            if scenarios.iter().all(|scenario| scenario.weight == 0) {
                part.mistake("all weights are 0, so nobody would do anything");
            }
            return Some(scenarios);
        };
        let names: Vec<_> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
        let mut chosen: Vec<_> = scenarios
            .into_iter()
            .filter(|scenario| scenario.name == *name)
            .collect();
        if chosen.len() != 1 {
            let hint = match nearest(name, names.iter().map(String::as_str)) {
                Some(nearest) if chosen.is_empty() => format!("did you mean `{nearest}`?"),
                _ => format!("there are: {}", names.join(", ")),
            };
            part.mistake(format!(
                "--scenario-name {name:?} fits {} scenarios, not one; {hint}",
                chosen.len()
            ));
            return None;
        }
        chosen[0].weight = 1;
        Some(chosen)
    }

    fn read_scenario(&self, part: &Part<'a>, position: usize, settings: &Settings) -> Option<ScenarioFlow> {
        let mut fields = part.fields()?;
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
        // Hundredths, as in Artillery, so that half a weight is one.
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
        let mut fields = part.fields()?;
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
        for key in HOOKS {
            if let Some(part) = fields.get(key) {
                part.mistake("there are no functions to call: a `processor` is not supported");
            }
        }
        let n_names = self.n_names();
        let mut flow = Flow::default();
        let part = fields.require("flow", "a list of steps, for example [{ send: hello }]");
        if let (Some(part), Some(engine)) = (part, engine) {
            self.read_flow(&part, engine, settings, &mut flow);
        }
        Some(ScenarioFlow {
            created: format!("vusers.created_by_name.{name}"),
            name,
            weight,
            engine: engine?,
            flow,
            reads: self.names_since(n_names),
        })
    }
}

fn engine(part: &Part<'_>, name: &str) -> Option<Engine> {
    match name {
        "ws" => Some(Engine::WebSocket),
        "http" => Some(Engine::Http),
        _ => {
            let is_here = matches!(&part.node().value, Value::Text(_));
            let of = if is_here {
                ""
            } else {
                ", which is meant where none is named,"
            };
            part.mistake(format!(
                "the engine `{name}`{of} is not supported; expected http or ws, or the test as a script (`plimsoll new`)"
            ));
            None
        }
    }
}
