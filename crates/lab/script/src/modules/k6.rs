//! `k6`: checks, groups, sleeping and failing.

use std::time::{Duration, Instant};

use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value, function::Opt};

use super::module::{Module, differs, same};
use crate::{arguments::Text, host::Host, members::members, tags};

pub(super) const MODULE: Module = Module {
    id: "k6",
    build,
    api: &[
        differs(
            "check",
            "conditions or tags that are not an object are errors; k6 ignores them",
        ),
        same("fail"),
        same("group"),
        differs("randomSeed", "a seed gives a different sequence from k6's"),
        same("sleep"),
    ],
};

/// The separator between the groups of a path (docs/protocols/k6.md, Tags).
const SEPARATOR: &str = "::";

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    members![
        function c"check" => check,
        function c"fail" => fail,
        function c"group" => group,
        function c"randomSeed" => random_seed,
        function c"sleep" => sleep,
    ]
    .define(&exports)?;
    Ok(exports)
}

/// Records one sample of `checks` per entry; true when all conditions hold.
fn check<'js>(ctx: Ctx<'js>, value: Value<'js>, checks: Value<'js>, tags: Opt<Value<'js>>) -> Result<bool> {
    let host = Host::of(&ctx);
    let mut recorder = host.recorder(&ctx, "check()")?;
    if let Some(tags) = tags.0.filter(|tags| !tags.is_null() && !tags.is_undefined()) {
        recorder = recorder.with_tags(tags::pairs(&tags::read(&ctx, &tags, "the tags of check()")?));
    }
    let group = host.group();
    let Some(checks) = checks.as_object() else {
        let text = "check() needs an object of conditions as its second argument, for example \
                    { 'status is 200': (r) => r.status === 200 }";
        return Err(Exception::throw_type(&ctx, text));
    };
    let mut all_passed = true;
    for entry in checks.props::<String, Value<'js>>() {
        let (name, condition) = entry?;
        if name.contains(SEPARATOR) {
            return Err(invalid_name(&ctx, "check", &name));
        }
        let answer = match condition.as_function() {
            Some(function) => function.call::<_, Value<'js>>((value.clone(),)),
            None => Ok(condition),
        };
        let passed = answer.as_ref().is_ok_and(is_truthy);
        recorder.check_named(&group, &name, passed);
        if answer?.is_promise() {
            let text =
                format!("the check `{name}` is an async function; await its result first, then check it");
            return Err(Exception::throw_type(&ctx, &text));
        }
        all_passed &= passed;
    }
    Ok(all_passed)
}

fn fail(ctx: Ctx<'_>, message: Opt<Text>) -> Result<()> {
    let message = message
        .0
        .map(|message| message.0)
        .filter(|message| !message.is_empty());
    Err(Exception::throw_message(
        &ctx,
        message.as_deref().unwrap_or("fail() was called"),
    ))
}

fn group<'js>(ctx: Ctx<'js>, Text(name): Text, function: Function<'js>) -> Result<Value<'js>> {
    if name.contains(SEPARATOR) {
        return Err(invalid_name(&ctx, "group", &name));
    }
    let host = Host::of(&ctx);
    let outer = host.group();
    let path = format!("{outer}{SEPARATOR}{name}");
    host.recorder(&ctx, "group()")?.group(&path);
    host.set_tag("group", Some(path));
    let begin = Instant::now();
    let result = function.call::<_, Value<'js>>(());
    let recorder = host.recorder(&ctx, "group()")?;
    recorder.record(host.metrics().execution.group_duration, begin.elapsed());
    host.set_tag("group", Some(outer));
    let result = result?;
    if result.is_promise() {
        let text = format!(
            "the group `{name}` is an async function, so its duration is unknown; use a synchronous \
                function"
        );
        return Err(Exception::throw_type(&ctx, &text));
    }
    Ok(result)
}

fn sleep(ctx: Ctx<'_>, seconds: Opt<Coerced<f64>>) -> Result<()> {
    let host = Host::of(&ctx);
    let seconds = seconds.0.map_or(0.0, |seconds| seconds.0);
    // A value that is not a number counts as 0. A number too large for a duration means an endless sleep.
    let duration = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
    if duration.is_zero() {
        return Ok(());
    }
    host.sleep(&ctx, duration)
}

fn random_seed(ctx: Ctx<'_>, seed: f64) -> Result<()> {
    let math: Object<'_> = ctx.globals().get("Math")?;
    let mut random = fastrand::Rng::with_seed(seed as i64 as u64);
    let next = Function::new(ctx.clone(), rquickjs::function::MutFn::from(move || random.f64()))?;
    math.set("random", next)
}

fn invalid_name(ctx: &Ctx<'_>, kind: &str, name: &str) -> rquickjs::Error {
    let text = format!(
        "the name of the {kind} `{name}` contains `{SEPARATOR}`, which separates groups; use another name"
    );
    Exception::throw_message(ctx, &text)
}

/// JavaScript's idea of true.
pub(crate) fn is_truthy(value: &Value<'_>) -> bool {
    if let Some(truth) = value.as_bool() {
        return truth;
    }
    if let Some(number) = value.as_number() {
        return number != 0.0 && !number.is_nan();
    }
    if let Some(text) = value.as_string() {
        return crate::arguments::utf8(text).is_ok_and(|text| !text.is_empty());
    }
    !value.is_null() && !value.is_undefined()
}
