//! Channels whose messages are counted and never enter the script.

use plimsoll_clients::cable::session::OnLatency;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use super::{channel::Channel, round_trip::trend_of};

/// From now on, the channel's messages are only counted. With `timestampField` and `trend`, the milliseconds from the
/// time in that field to the arrival are recorded; a negative time, from another clock, counts as 0.
///
/// # Errors
/// A TypeError when the options are others than these two, or only one of them.
pub(super) fn start<'js>(ctx: &Ctx<'js>, channel: &Channel, options: Option<Value<'js>>) -> Result<()> {
    let mut field: Option<String> = None;
    let mut trend = None;
    let object = options.as_ref().and_then(Value::as_object);
    for entry in object.into_iter().flat_map(Object::props::<String, Value<'js>>) {
        let (name, value) = entry?;
        match name.as_str() {
            "timestampField" => field = value.get()?,
            "trend" => trend = Some(trend_of(ctx, &value)?),
            _ => return Err(refuse(ctx, &format!("`{name}` is not an option"))),
        }
    }
    let on_latency: OnLatency = match (&field, trend) {
        (None, None) => Box::new(|_| {}),
        (Some(_), Some(trend)) => {
            let recorder = channel.shared.meter.recorder.clone();
            Box::new(move |ms| recorder.record_number(trend, ms))
        }
        _ => return Err(refuse(ctx, "one of two options is missing")),
    };
    channel.channel.count_only(field.as_deref(), on_latency);
    Ok(())
}

fn refuse(ctx: &Ctx<'_>, what: &str) -> rquickjs::Error {
    let text = format!(
        "countOnly(): {what}; expected nothing, or {{ timestampField: 'ts', trend: new Trend('delay', true) }}"
    );
    Exception::throw_type(ctx, &text)
}
