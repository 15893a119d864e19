//! `k6/execution`: what a script may know of its run, and do to it.

use std::{sync::Arc, time::UNIX_EPOCH};

use rquickjs::{Ctx, Exception, Function, Object, Result, Value, function::Opt, object::Accessor};

use super::{Module, differs, same};
use crate::{
    host::{Host, Work},
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
        same("vu.idInInstance"),
        same("vu.idInTest"),
        differs(
            "vu.metrics.tags",
            "assign each tag; a whole new object replaces all that the script has set; `delete` takes away what the \
             script has set, not what the run and the scenario have",
        ),
        differs("vu.metrics.metadata", "kept, and not written to any output"),
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

/// A property whose value is read from the work of the moment.
fn live<'js, T>(
    object: &Object<'js>,
    name: &'static str,
    read: impl Fn(&Ctx<'js>, &Work) -> Result<T> + 'js,
) -> Result<()>
where
    T: rquickjs::IntoJs<'js> + 'js,
{
    let get = move |ctx: Ctx<'js>| {
        let host = Host::of(&ctx);
        let work = host.work(&ctx, &format!("`{name}` of k6/execution"))?;
        read(&ctx, &work)
    };
    object.prop(name, Accessor::new_get(get).enumerable())
}

fn instance<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let instance = Object::new(ctx.clone())?;
    live(&instance, "iterationsInterrupted", |_, work| {
        Ok(work.run.iterations_interrupted() as f64)
    })?;
    live(&instance, "iterationsCompleted", |_, work| {
        Ok(work.run.iterations_completed() as f64)
    })?;
    live(&instance, "vusActive", |_, work| Ok(work.run.active_vus()))?;
    live(&instance, "vusInitialized", |_, work| {
        Ok(work.run.initialized_vus())
    })?;
    live(&instance, "currentTestRunDuration", |_, work| {
        Ok(work.run.elapsed().as_secs_f64() * 1_000.0)
    })?;
    Ok(instance)
}

/// A property of the scenario that an iteration is a part of.
fn of_iteration<'js, T>(
    object: &Object<'js>,
    name: &'static str,
    read: impl Fn(&plimsoll_load::vu::IterationContext) -> T + 'js,
) -> Result<()>
where
    T: rquickjs::IntoJs<'js> + 'js,
{
    live(object, name, move |ctx, work| match &work.iteration {
        Some(iteration) => Ok(read(iteration)),
        None => {
            let text = format!("`{name}` of k6/execution is known in the functions of scenarios only");
            Err(Exception::throw_message(ctx, &text))
        }
    })
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
        iteration.scenario_iteration as f64
    })?;
    live(&scenario, "startTime", |_, work| {
        let start_time = work
            .iteration
            .as_ref()
            .map(|iteration| iteration.scenario.start_time)
            .unwrap_or_default();
        let since = work.run.elapsed().saturating_sub(start_time);
        let now = UNIX_EPOCH.elapsed().unwrap_or_default();
        Ok(now.saturating_sub(since).as_millis() as f64)
    })?;
    live(&scenario, "progress", |_, work| Ok(progress(work)))?;
    Ok(scenario)
}

/// From 0 to 1, by time.
fn progress(work: &Work) -> f64 {
    let Some(iteration) = &work.iteration else {
        return 0.0;
    };
    let elapsed = work.run.elapsed().saturating_sub(iteration.scenario.start_time);
    match iteration.scenario.executor.duration() {
        Some(whole) if !whole.is_zero() => (elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0),
        _ => 0.0,
    }
}

fn test<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let test = Object::new(ctx.clone())?;
    test.set("abort", Function::new(ctx.clone(), abort)?)?;
    test.set("fail", Function::new(ctx.clone(), fail)?)?;
    let options = |ctx: Ctx<'js>| {
        let program = Arc::clone(&Host::of(&ctx).program);
        ctx.json_parse(program.options().consolidated.as_str())
    };
    test.prop("options", Accessor::new_get(options).enumerable())?;
    Ok(test)
}

fn abort(ctx: Ctx<'_>, reason: Opt<String>) -> Result<()> {
    let host = Host::of(&ctx);
    let text = match &reason.0 {
        Some(reason) => format!("test aborted: {reason}"),
        None => "test aborted".to_owned(),
    };
    match host.work(&ctx, "exec.test.abort()") {
        Ok(work) => work.run.abort(text.clone()),
        Err(_) => drop(ctx.catch()),
    }
    host.abort(text.clone());
    Err(Exception::throw_message(&ctx, &text))
}

fn fail(ctx: Ctx<'_>, reason: Opt<String>) -> Result<()> {
    let host = Host::of(&ctx);
    let work = host.work(&ctx, "exec.test.fail()")?;
    work.run
        .mark_failed(reason.0.unwrap_or_else(|| "test marked as failed".to_owned()));
    Ok(())
}

fn vu<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Object::new(ctx.clone())?;
    vu.set("idInInstance", Host::of(ctx).vu)?;
    vu.set("idInTest", Host::of(ctx).vu)?;
    of_iteration(&vu, "iterationInInstance", |iteration| iteration.iteration as f64)?;
    of_iteration(&vu, "iterationInScenario", |iteration| {
        iteration.iteration_in_scenario as f64
    })?;
    let metrics = Object::new(ctx.clone())?;
    let tags = tags_object(ctx)?;
    vu.set("tags", tags.clone())?;
    metrics.set("tags", tags)?;
    metrics.set("metadata", Object::new(ctx.clone())?)?;
    vu.set("metrics", metrics)?;
    Ok(vu)
}

/// An object whose properties are the tags of the virtual user.
fn tags_object<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let get = |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| match name.as_string() {
        Some(name) => Ok::<_, rquickjs::Error>(Host::of(&ctx).tag(&name.to_string()?)),
        None => Ok(None),
    };
    let set = |ctx: Ctx<'js>, _: Value<'js>, name: String, value: Value<'js>| {
        let host = Host::of(&ctx);
        drop(host.work(&ctx, "setting a tag")?);
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
