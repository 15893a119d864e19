//! A user as functions see it: `context`, whose variables are synchronised in both directions.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use plimsoll_scenario::artillery::{Globals, hooks::Introduction};
use rquickjs::{Ctx, Object, Result, Value};

use super::events;

/// One user.
pub(super) struct Guest<'js> {
    /// `context`.
    pub(super) context: Object<'js>,
    /// `context.vars`.
    pub(super) variables: Object<'js>,
    /// `events`.
    pub(super) events: Object<'js>,
    /// Variables as both sides know them.
    known: HashMap<String, Known<'js>>,
}

struct Known<'js> {
    value: Value<'js>,
    /// The value as JSON; `None` for values that all users share, which are not compared.
    json: Option<String>,
}

/// Values with their names.
type Named<'js> = Rc<[(String, Value<'js>)]>;

/// Values that all users share, made once.
#[derive(Default)]
pub(super) struct Shared<'js> {
    globals: Vec<(Arc<Globals>, Named<'js>)>,
    scenarios: Vec<(Arc<str>, Value<'js>)>,
}

impl<'js> Shared<'js> {
    /// Variables that all users have: there are at most two sets, before and after `before` has run.
    fn globals(&mut self, ctx: &Ctx<'js>, globals: &Arc<Globals>) -> Result<Named<'js>> {
        if let Some((_, known)) = self.globals.iter().find(|(known, _)| Arc::ptr_eq(known, globals)) {
            return Ok(Rc::clone(known));
        }
        let mut values = Vec::new();
        for (name, value) in &globals.values {
            values.push((name.clone(), ctx.json_parse(value.to_string())?));
        }
        let environment = Object::new(ctx.clone())?;
        for (name, value) in &globals.environment {
            environment.set(name.as_str(), value.as_str())?;
        }
        for name in ["$env", "$processEnvironment"] {
            values.push((name.to_owned(), environment.clone().into_value()));
        }
        let values: Named<'js> = values.into();
        self.globals.push((Arc::clone(globals), Rc::clone(&values)));
        Ok(values)
    }

    fn scenario(&mut self, ctx: &Ctx<'js>, json: &Arc<str>) -> Result<Value<'js>> {
        if let Some((_, known)) = self.scenarios.iter().find(|(known, _)| Arc::ptr_eq(known, json)) {
            return Ok(known.clone());
        }
        let value: Value<'js> = ctx.json_parse(json.as_bytes().to_vec())?;
        self.scenarios.push((Arc::clone(json), value.clone()));
        Ok(value)
    }
}

impl<'js> Guest<'js> {
    pub(super) fn new(ctx: &Ctx<'js>, shared: &mut Shared<'js>, introduction: Introduction) -> Result<Self> {
        let Introduction {
            uid,
            scenario,
            globals,
            recorder,
            run: _,
        } = introduction;
        let (context, variables) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
        let mut known = HashMap::new();
        for (name, value) in shared.globals(ctx, &globals)?.iter() {
            variables.set(name.as_str(), value.clone())?;
            let value = value.clone();
            known.insert(name.clone(), Known { value, json: None });
        }
        context.set("vars", variables.clone())?;
        context.set("scenario", shared.scenario(ctx, &scenario)?)?;
        context.set("_uid", uid)?;
        Ok(Self {
            context,
            variables,
            events: events::build(ctx, recorder)?,
            known,
        })
    }

    /// Sets variables that were changed elsewhere.
    pub(super) fn hear(&mut self, ctx: &Ctx<'js>, changed: Vec<(String, serde_json::Value)>) -> Result<()> {
        for (name, value) in changed {
            let json = value.to_string();
            let value: Value<'js> = ctx.json_parse(json.as_bytes().to_vec())?;
            self.variables.set(name.as_str(), value.clone())?;
            let json = Some(json);
            self.known.insert(name, Known { value, json });
        }
        Ok(())
    }

    /// The variables that the functions have set since the last call.
    pub(super) fn tell(&mut self, ctx: &Ctx<'js>) -> Result<Vec<(String, serde_json::Value)>> {
        // A function may have replaced the whole.
        let now: Value<'js> = self.context.get("vars")?;
        if let Some(now) = now.as_object() {
            self.variables = now.clone();
        }
        let (n_known, mut n_found) = (self.known.len(), 0);
        let mut changed = Vec::new();
        for entry in self.variables.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            let known = self.known.get(&name);
            n_found += usize::from(known.is_some());
            let is_same = known.is_some_and(|known| known.value == value);
            if is_same && (!value.is_object() || known.is_some_and(|known| known.json.is_none())) {
                continue;
            }
            let Some(json) = ctx.json_stringify(value.clone())? else {
                // A function, which only functions can use.
                continue;
            };
            let json = crate::arguments::utf8(&json)?;
            if known.and_then(|known| known.json.as_ref()) == Some(&json) {
                continue;
            }
            changed.push((name.clone(), serde_json::from_str(&json).unwrap_or_default()));
            let json = Some(json);
            self.known.insert(name, Known { value, json });
        }
        if n_found < n_known {
            changed.extend(self.forget_deleted()?);
        }
        Ok(changed)
    }

    /// Variables that were deleted are null.
    fn forget_deleted(&mut self) -> Result<Vec<(String, serde_json::Value)>> {
        let mut deleted = Vec::new();
        for name in self.known.keys() {
            if !self.variables.contains_key(name.as_str())? {
                deleted.push((name.clone(), serde_json::Value::Null));
            }
        }
        for (name, _) in &deleted {
            self.known.remove(name);
        }
        Ok(deleted)
    }
}
