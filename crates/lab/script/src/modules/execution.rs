//! `k6/execution`: information about the run, and control over it.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use plimsoll_load::vu::IterationContext;
use rquickjs::{
    Ctx, Exception, Function, Object, Result, Value,
    function::Opt,
    object::{Accessor, Property},
};

use super::module::{Module, differs, same};
use crate::{
    arguments::{Text, utf8},
    host::{Host, Stage, Work},
    tags,
};

pub(super) const MODULE: Module = Module {
    id: "k6/execution",
    build,
    api: &[
        same("instance"),
        same("scenario"),
        same("test.abort"),
        same("test.fail"),
        same("test.options"),
        same("vu.iterationInInstance"),
        same("vu.iterationInScenario"),
        differs("vu.idInInstance", "known in the init context, too"),
        differs("vu.idInTest", "known in the init context, too"),
        differs("vu.tags", "as vu.metrics.tags"),
        differs(
            "vu.metrics.tags",
            "`delete` removes tags that the script has set, but not those of the run and the scenario",
        ),
        differs("vu.metrics.metadata", "kept, but not written to any output"),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("instance", instance(ctx)?)?;
    exports.set("scenario", scenario(ctx)?)?;
    exports.set("test", test(ctx)?)?;
    exports.set("vu", vu(ctx)?)?;
    Ok(exports)
}

/// A property whose value is read from the current work.
fn live<'js, T>(object: &Object<'js>, name: &'static str, read: impl Fn(&Work) -> T + 'js) -> Result<()>
where
    T: rquickjs::IntoJs<'js> + 'js,
{
    let get = move |ctx: Ctx<'js>| Host::of(&ctx).work(&ctx, &whole_name(name), &read);
    object.prop(name, Accessor::new_get(get).enumerable())
}

/// A property of the iteration of the moment, and of the run that it is a part of.
fn of_iteration<'js, T>(
    object: &Object<'js>,
    name: &'static str,
    read: impl Fn(&IterationContext) -> T + 'js,
) -> Result<()>
where
    T: rquickjs::IntoJs<'js> + 'js,
{
    let get = move |ctx: Ctx<'js>| {
        let host = Host::of(&ctx);
        let value = host.work(&ctx, &whole_name(name), |work| work.iteration.as_ref().map(&read))?;
        value.ok_or_else(|| {
            let text = format!(
                "{} is available only in the functions of scenarios",
                whole_name(name)
            );
            Exception::throw_message(&ctx, &text)
        })
    };
    object.prop(name, Accessor::new_get(get).enumerable())
}

fn whole_name(name: &str) -> String {
    format!("`{name}` of k6/execution")
}

fn instance<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let instance = Object::new(ctx.clone())?;
    live(&instance, "iterationsInterrupted", |work| {
        work.run.iterations_interrupted() as f64
    })?;
    live(&instance, "iterationsCompleted", |work| {
        work.run.iterations_completed() as f64
    })?;
    live(&instance, "vusActive", |work| work.run.active_vus())?;
    live(&instance, "vusInitialized", |work| work.run.initialized_vus())?;
    live(&instance, "currentTestRunDuration", |work| {
        work.run.elapsed().as_secs_f64() * 1_000.0
    })?;
    Ok(instance)
}

fn scenario<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let scenario = Object::new(ctx.clone())?;
    of_iteration(&scenario, "name", |iteration| iteration.scenario.name.clone())?;
    of_iteration(&scenario, "executor", |iteration| {
        iteration.scenario.executor.name()
    })?;
    of_iteration(&scenario, "iterationInInstance", |iteration| {
        iteration.scenario_iteration as f64
    })?;
    of_iteration(&scenario, "iterationInTest", |iteration| {
        iteration.scenario_iteration_in_test as f64
    })?;
    of_iteration(&scenario, "startTime", |iteration| {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default();
        now.saturating_sub(elapsed(iteration)).as_millis() as f64
    })?;
    of_iteration(&scenario, "progress", progress)?;
    Ok(scenario)
}

/// The time since the scenario of an iteration began.
fn elapsed(iteration: &IterationContext) -> Duration {
    let of_run = iteration.run.elapsed();
    of_run.saturating_sub(iteration.scenario.start_time)
}

/// The progress of the scenario by time, from 0 to 1.
fn progress(iteration: &IterationContext) -> f64 {
    match iteration.scenario.executor.duration() {
        Some(whole) if !whole.is_zero() => (elapsed(iteration).as_secs_f64() / whole.as_secs_f64()).min(1.0),
        _ => 0.0,
    }
}

fn test<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let test = Object::new(ctx.clone())?;
    test.set("abort", Function::new(ctx.clone(), abort)?)?;
    test.set("fail", Function::new(ctx.clone(), fail)?)?;
    let options = |ctx: Ctx<'js>| {
        let host = Host::of(&ctx);
        if host.stage() == Stage::Init {
            let text = "`options` of k6/execution does not work in the init context: the options are still being read";
            return Err(Exception::throw_message(&ctx, text));
        }
        let program = Arc::clone(&host.program);
        ctx.json_parse(program.options().consolidated.as_str())
    };
    test.prop("options", Accessor::new_get(options).enumerable())?;
    Ok(test)
}

fn abort(ctx: Ctx<'_>, reason: Opt<Text>) -> Result<()> {
    let host = Host::of(&ctx);
    let text = match given(reason) {
        Some(reason) => format!("test aborted: {reason}"),
        None => "test aborted".to_owned(),
    };
    match host.work(&ctx, "exec.test.abort()", |work| work.run.abort(text.clone())) {
        Ok(()) => {}
        Err(_) => drop(ctx.catch()),
    }
    host.abort(text.clone());
    Err(Exception::throw_message(&ctx, &text))
}

fn fail(ctx: Ctx<'_>, reason: Opt<Text>) -> Result<()> {
    let reason = given(reason).unwrap_or_else(|| "test marked as failed".to_owned());
    Host::of(&ctx).work(&ctx, "exec.test.fail()", |work| work.run.mark_failed(reason))
}

fn given(reason: Opt<Text>) -> Option<String> {
    reason
        .0
        .map(|reason| reason.0)
        .filter(|reason| !reason.is_empty())
}

fn vu<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Object::new(ctx.clone())?;
    vu.set("idInInstance", Host::of(ctx).vu)?;
    vu.set("idInTest", Host::of(ctx).vu_in_test())?;
    of_iteration(&vu, "iterationInInstance", |iteration| iteration.iteration as f64)?;
    of_iteration(&vu, "iterationInScenario", |iteration| {
        iteration.iteration_in_scenario as f64
    })?;
    let metrics = Object::new(ctx.clone())?;
    let tags = tags_object(ctx)?;
    // Not writable, as in k6: samples would have nothing of an object in their place.
    vu.prop("tags", Property::from(tags.clone()).enumerable())?;
    metrics.prop("tags", Property::from(tags).enumerable())?;
    metrics.prop("metadata", Property::from(Object::new(ctx.clone())?).enumerable())?;
    vu.prop("metrics", Property::from(metrics).enumerable())?;
    Ok(vu)
}

/// An object whose properties are the tags of the virtual user.
fn tags_object<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let get = |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| match name.as_string() {
        Some(name) => Ok::<_, rquickjs::Error>(Host::of(&ctx).tag(&utf8(name)?)),
        None => Ok(None),
    };
    let set = |ctx: Ctx<'js>, _: Value<'js>, name: String, value: Value<'js>| {
        let host = Host::of(&ctx);
        host.work(&ctx, "setting a tag", |_| ())?;
        host.set_tag(&name, Some(tags::value_of(&ctx, &name, &value)?));
        Ok::<_, rquickjs::Error>(true)
    };
    let delete = |ctx: Ctx<'js>, _: Value<'js>, name: String| {
        Host::of(&ctx).set_tag(&name, None);
        true
    };
    let keys = |ctx: Ctx<'js>| Host::of(&ctx).tags().into_keys().collect::<Vec<_>>();
    let describe = |ctx: Ctx<'js>, _: Value<'js>, name: String| {
        let Some(value) = Host::of(&ctx).tag(&name) else {
            return Ok(Value::new_undefined(ctx));
        };
        let property = Object::new(ctx.clone())?;
        property.set("value", value)?;
        for flag in ["writable", "enumerable", "configurable"] {
            property.set(flag, true)?;
        }
        Ok::<_, rquickjs::Error>(property.into_value())
    };
    let handler = Object::new(ctx.clone())?;
    handler.set("get", Function::new(ctx.clone(), get)?)?;
    handler.set("set", Function::new(ctx.clone(), set)?)?;
    handler.set("deleteProperty", Function::new(ctx.clone(), delete)?)?;
    handler.set("ownKeys", Function::new(ctx.clone(), keys)?)?;
    handler.set("getOwnPropertyDescriptor", Function::new(ctx.clone(), describe)?)?;
    let proxy: rquickjs::function::Constructor<'js> = ctx.globals().get("Proxy")?;
    proxy.construct((Object::new(ctx.clone())?, handler))
}
