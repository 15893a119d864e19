//! An action and its answer, timed from the write to the read.

use plimsoll_clients::cable::session::Patience;
use plimsoll_load::metrics::TrendId;
use rquickjs::{Ctx, Exception, Result, Value};

use super::{channel::Channel, condition::Condition};
use crate::{host::Host, modules::metrics};

/// Performs an action and waits for the first message after it that fulfils the condition. Records the time between the
/// two in `cable_rtt` or a trend of the script's. Null when there is no answer, of which nothing is recorded.
///
/// # Errors
/// As for performing and receiving.
pub(super) fn run<'js>(
    ctx: &Ctx<'js>,
    channel: &Channel,
    action: &str,
    data: Option<Value<'js>>,
    condition: Option<Value<'js>>,
    trend: Option<Value<'js>>,
) -> Result<Option<Value<'js>>> {
    let condition = Condition::read(ctx, condition)?;
    let trend = match trend.filter(|trend| !trend.is_undefined() && !trend.is_null()) {
        Some(trend) => trend_of(ctx, &trend)?,
        None => Host::of(ctx).metrics().cable.round_trip,
    };
    let sent_at = channel.send(ctx, action, data)?;
    let patience = Patience::Idle(channel.shared.receive_timeout);
    let found = condition.search(ctx, &channel.channel, 1, patience, Some(sent_at))?;
    channel.shared.warn_of_stall();
    let Some(found) = found.into_iter().next() else {
        channel.warn_of_timeout();
        return Ok(None);
    };
    let took = found.at.saturating_duration_since(sent_at);
    channel.shared.meter.recorder.record(trend, took);
    Ok(Some(found.value))
}

/// Reads a `Trend` that the script created.
///
/// # Errors
/// A TypeError when the value is not a `Trend`.
pub(super) fn trend_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<TrendId> {
    metrics::trend(value).ok_or_else(|| {
        let text = "expected a Trend, for example one made with new Trend('rtt', true) in the init context";
        Exception::throw_type(ctx, text)
    })
}
