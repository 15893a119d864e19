//! The steps of a flow that all engines have.

use plimsoll_load::nearest::nearest;

use super::{config::Settings, reader::Reader};
use crate::{
    artillery::{
        duration,
        flow::{Bounds, Flow, Loop, LoopKind, Step, Think, Time},
        keys,
        program::Engine,
    },
    document::{Fields, Part, Value},
};

/// Artillery's names.
const LOOP_COUNT: &str = "$loopCount";
const LOOP_ELEMENT: &str = "$loopElement";

impl<'a> Reader<'a> {
    /// Reads the steps. Lists within the list are flattened, as YAML's anchors make them.
    pub(super) fn read_flow(&self, part: &Part<'a>, engine: Engine, settings: &Settings, flow: &mut Flow) {
        for part in part.list().into_iter().flatten() {
            match &part.node().value {
                Value::List(_) => self.read_flow(&part, engine, settings, flow),
                _ => self.read_step(&part, engine, settings, flow),
            }
        }
    }

    fn read_step(&self, part: &Part<'a>, engine: Engine, settings: &Settings, flow: &mut Flow) {
        if matches!(&part.node().value, Value::Text(_)) {
            part.unexpected("a step with its value, for example { send: hello } or { think: 1 }");
            return;
        }
        let (shape, known) = keys::steps(engine);
        let Some(mut fields) = part.fields_of(shape) else {
            return;
        };
        let keys: Vec<_> = fields.all().map(|(key, _)| key).collect();
        let steps: Vec<_> = known.iter().filter(|name| keys.contains(name)).collect();
        match steps.as_slice() {
            [] => {
                let key = keys.first().copied().unwrap_or_default();
                let is_others = [Engine::Http, Engine::WebSocket]
                    .iter()
                    .any(|engine| keys::steps(*engine).1.contains(&key));
                let hint = match (is_others, nearest(key, known.iter().copied())) {
                    (true, _) => "it belongs to another engine".to_owned(),
                    (false, Some(nearest)) => format!("did you mean `{nearest}`?"),
                    (false, None) => format!("expected one of {}", known.join(", ")),
                };
                part.mistake(format!(
                    "there is no step `{key}` in the engine `{}`; {hint}",
                    engine.name()
                ));
            }
            [name] => {
                self.read_named(name, &mut fields, engine, settings, flow);
                fields.finish();
            }
            [first, second, ..] => part.mistake(format!(
                "`{first}` and `{second}` are two steps; write each as a separate list item"
            )),
        }
    }

    fn read_named(
        &self,
        name: &'static str,
        fields: &mut Fields<'a>,
        engine: Engine,
        settings: &Settings,
        flow: &mut Flow,
    ) {
        let Some(part) = fields.require(name, "a value") else {
            return;
        };
        let step = match name {
            "think" => self.read_think(&part, fields, settings),
            "log" => self.template(&part).map(Step::Log),
            "function" => {
                flow.calls_functions = true;
                self.function(&part).map(Step::Function)
            }
            "loop" => return self.read_loop(&part, fields, engine, settings, flow),
            "connect" => return self.read_connect(&part, flow),
            "send" => self.read_send(&part, self.place(fields, flow)),
            "wait" => self.read_wait(&part, self.place(fields, flow)),
            "receive" => {
                flow.has_inbox = true;
                self.read_receive(&part, self.place(fields, flow))
            }
            "parallel" => self.read_parallel(&part, fields, settings, flow),
            method => self
                .read_request(method, &part, settings, flow)
                .map(|request| Step::Request(Box::new(request))),
        };
        flow.steps.extend(step);
    }

    fn read_think(&self, part: &Part<'a>, fields: &mut Fields<'a>, settings: &Settings) -> Option<Step> {
        let jitter = match fields.get("jitter") {
            Some(part) => self.read_jitter(&part),
            None => settings.jitter,
        };
        let time = self.json(part)?;
        let time = match time.constant() {
            None => Time::Template(time),
            Some(value) => match duration::of_value(value) {
                Some(duration) => Time::Fixed(duration),
                None => {
                    part.unexpected(duration::EXPECTED);
                    return None;
                }
            },
        };
        Some(Step::Think(Think { time, jitter }))
    }

    fn read_loop(
        &self,
        part: &Part<'a>,
        fields: &mut Fields<'a>,
        engine: Engine,
        settings: &Settings,
        flow: &mut Flow,
    ) {
        let name_of = |part: Option<Part<'a>>, usual: &str| {
            let name = part.and_then(|part| part.text()).unwrap_or(usual);
            self.sets(name);
            name.to_owned()
        };
        let index_name = name_of(fields.get("loopValue"), LOOP_COUNT);
        let element_name = name_of(fields.get("loopElement"), LOOP_ELEMENT);
        let kind = self.loop_kind(fields);
        flow.calls_functions |= matches!(kind, Some(LoopKind::WhileFunction(_)));
        let head = flow.steps.len();
        let rounds = Loop {
            kind: kind.unwrap_or(LoopKind::Forever),
            index_name,
            element_name,
        };
        // Its end is known after its steps were read.
        flow.steps.push(Step::Loop {
            head: rounds,
            end: head,
        });
        self.read_flow(part, engine, settings, flow);
        let found_end = flow.steps.len();
        if found_end == head + 1 {
            part.mistake("the loop has no steps");
        }
        if let Step::Loop { end, .. } = &mut flow.steps[head] {
            *end = found_end;
        }
        flow.steps.push(Step::Repeat { head });
    }

    fn loop_kind(&self, fields: &mut Fields<'a>) -> Option<LoopKind> {
        let [over, until, count] = ["over", "whileTrue", "count"].map(|key| fields.get(key));
        match (over, until, count) {
            (Some(part), None, count) => {
                if let Some(count) = count {
                    self.warn(
                        &count,
                        "has no effect together with `over`, as in Artillery: each element gets one round",
                    );
                }
                self.over(&part).map(LoopKind::Over)
            }
            (None, Some(part), None) if self.is_function(&part) => {
                self.function(&part).map(LoopKind::WhileFunction)
            }
            (None, Some(part), None) => self.condition(&part).map(LoopKind::While),
            (None, None, None) => Some(LoopKind::Forever),
            (None, None, Some(part)) => {
                let count = self.json(&part)?;
                let Some(value) = count.constant() else {
                    return Some(LoopKind::CountOf(count));
                };
                match Bounds::read(value) {
                    Ok(Some(bounds)) => Some(LoopKind::Count(bounds)),
                    Ok(None) => Some(LoopKind::Forever),
                    Err(()) => {
                        part.unexpected("a number of rounds or a range, for example 10 or \"1-10\"");
                        None
                    }
                }
            }
            _ => {
                let problem =
                    "`over`, `whileTrue` and `count` each define when the loop ends; keep one of them";
                fields.part().mistake(problem);
                None
            }
        }
    }

    /// A list, or the name of a variable with a list.
    fn over(&self, part: &Part<'a>) -> Option<crate::artillery::template::JsonTemplate> {
        match &part.node().value {
            Value::List(_) => self.json(part),
            Value::Text(name) if !name.contains("{{") => self.variable(part, name),
            Value::Text(_) => self.json(part),
            _ => {
                part.unexpected("a list, or the name of a variable that holds a list");
                None
            }
        }
    }
}
