//! `events`, often called `ee`: the object with which functions count metrics of their own.

use plimsoll_load::metrics::Recorder;
use rquickjs::{Coerced, Ctx, FromJs as _, Function, Object, Result, Value, function::Rest};

use crate::arguments::utf8;

/// The longest name, as in Artillery; the rest is cut off.
const MAX_NAME_BYTES: usize = 1_024;

/// The object for a user with this recorder.
pub(super) fn build<'js>(ctx: &Ctx<'js>, recorder: Recorder) -> Result<Object<'js>> {
    let events = Object::new(ctx.clone())?;
    let emit = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| emit(&ctx, &recorder, &arguments.0);
    events.set("emit", Function::new(ctx.clone(), emit)?.with_name("emit")?)?;
    Ok(events)
}

/// True when the event has a listener, as in Node.
fn emit<'js>(ctx: &Ctx<'js>, recorder: &Recorder, arguments: &[Value<'js>]) -> Result<bool> {
    let text = |at: usize| match arguments.get(at) {
        Some(value) => name(ctx, value),
        None => Ok(String::new()),
    };
    let number = |value: Option<&Value<'js>>| -> Result<Option<f64>> {
        let Some(value) = value else { return Ok(None) };
        let number = Coerced::<f64>::from_js(ctx, value.clone())?.0;
        Ok(Some(number).filter(|number| number.is_finite()))
    };
    let event = text(0)?;
    match event.as_str() {
        // A counter only grows.
        "counter" => match number(arguments.get(2))?.filter(|n| *n >= 0.0) {
            Some(n) => recorder.tally(&text(1)?, n.round() as u64),
            None => complain(&event, "a name and a number from 0 on"),
        },
        "histogram" | "summary" => match number(arguments.get(2))? {
            Some(value) => recorder.observe(&text(1)?, value),
            None => complain(&event, "a name and a number"),
        },
        "rate" => recorder.event(&text(1)?, 1),
        "customStat" => {
            let stat = arguments.get(1).and_then(Value::as_object);
            let value = stat.map(|stat| stat.get::<_, Value<'js>>("value")).transpose()?;
            match (stat, number(value.as_ref())?) {
                (Some(stat), Some(value)) => recorder.observe(&name(ctx, &stat.get("stat")?)?, value),
                _ => complain(&event, "{ stat: name, value: number }"),
            }
        }
        "error" => recorder.tally(&format!("errors.{}", text(1)?), 1),
        _ => return Ok(false),
    }
    Ok(true)
}

fn complain(event: &str, expected: &str) {
    tracing::warn!(target: "script", "events.emit({event:?}, …): expected {expected}; nothing is counted");
}

fn name<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    let text = Coerced::<rquickjs::String<'js>>::from_js(ctx, value.clone())?;
    Ok(shortened(utf8(&text.0)?))
}

/// A text that fits into the name of a metric.
pub(super) fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
    text
}
