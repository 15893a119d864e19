//! The options of all layers as scripts see them (k6's `exec.test.options`): all schedules have become scenarios, and
//! the options of summary and tags have their defaults.

use serde_json::{Map, Value, json};

use super::{Options, Plan};

/// The options that scenarios replace.
const SHORTCUTS: [&str; 4] = ["vus", "duration", "iterations", "stages"];

impl Options {
    /// These options, from which `plan` was made.
    pub fn consolidated(&self, plan: &Plan) -> Value {
        let mut all: Map<String, Value> = Self::names()
            .filter(|name| !SHORTCUTS.contains(name))
            .filter_map(|name| Some((name.to_owned(), self.get(name)?.clone())))
            .collect();
        all.entry("scenarios")
            .or_insert_with(|| json!({ "default": self.shortcut() }));
        all.insert("systemTags".to_owned(), json!(plan.system_tags));
        all.insert("summaryTrendStats".to_owned(), json!(plan.summary_trend_stats));
        all.into()
    }

    /// The scenario for the shortcuts, with the fields that were written.
    fn shortcut(&self) -> Value {
        let named = |names: &[(&str, &str)]| {
            let fields = names.iter().filter_map(|&(field, option)| {
                let value = self.get(option)?.clone();
                Some((field.to_owned(), value))
            });
            fields.collect::<Map<_, _>>()
        };
        let has = |name| self.get(name).is_some();
        let (executor, mut fields) = if has("stages") {
            ("ramping-vus", named(&[("startVUs", "vus"), ("stages", "stages")]))
        } else if has("iterations") {
            let fields = [
                ("vus", "vus"),
                ("iterations", "iterations"),
                ("maxDuration", "duration"),
            ];
            ("shared-iterations", named(&fields))
        } else if has("duration") {
            ("constant-vus", named(&[("vus", "vus"), ("duration", "duration")]))
        } else if has("vus") {
            (
                "shared-iterations",
                named(&[("vus", "vus"), ("iterations", "vus")]),
            )
        } else {
            ("per-vu-iterations", Map::new())
        };
        fields.insert("executor".to_owned(), executor.into());
        fields.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consolidated(options: &Value) -> Value {
        let options = Options::from_json(options).unwrap().options;
        options.consolidated(&Plan::from_options(&options).unwrap())
    }

    #[test]
    fn shortcuts_are_scenarios() {
        let stages = json!([{ "duration": "10s", "target": 5 }]);
        for (options, expected) in [
            (json!({}), json!({ "executor": "per-vu-iterations" })),
            (
                json!({ "vus": 3 }),
                json!({ "executor": "shared-iterations", "vus": 3, "iterations": 3 }),
            ),
            (
                json!({ "vus": 3, "duration": "5s" }),
                json!({ "executor": "constant-vus", "vus": 3, "duration": "5s" }),
            ),
            (
                json!({ "iterations": 9, "duration": "5s" }),
                json!({ "executor": "shared-iterations", "iterations": 9, "maxDuration": "5s" }),
            ),
            (
                json!({ "vus": 2, "stages": stages }),
                json!({ "executor": "ramping-vus", "startVUs": 2, "stages": stages }),
            ),
        ] {
            let found = consolidated(&options);
            assert_eq!(found["scenarios"]["default"], expected, "{options}");
            assert!(
                SHORTCUTS.iter().all(|name| found.get(name).is_none()),
                "{options}"
            );
            // Its value is a scenario of equal meaning.
            let scenarios = json!({ "scenarios": found["scenarios"] });
            let of = |value| Plan::from_options(&Options::from_json(value).unwrap().options).unwrap();
            assert_eq!(of(&scenarios).scenarios, of(&options).scenarios, "{options}");
        }
    }

    #[test]
    fn other_options_are_as_they_were_written() {
        let scenarios = json!({ "chat": { "executor": "constant-vus", "duration": "1m" } });
        let written =
            json!({ "scenarios": scenarios, "tags": { "team": "chat" }, "rps": 5, "systemTags": ["url"] });
        let mut expected = written.clone();
        expected["summaryTrendStats"] = json!(["avg", "min", "med", "max", "p(90)", "p(95)"]);
        assert_eq!(consolidated(&written), expected);
    }
}
