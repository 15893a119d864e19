//! The answer to a call, as the script sees it.

use plimsoll_clients::grpc::Status;
use prost::Message as _;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use super::{call::Answer, metadata, state::State};
use crate::protobuf::{StatusDetails, Types, write, write_any};

/// The response of `invoke`.
///
/// # Errors
/// The message has no JSON.
pub(super) fn of<'js>(ctx: &Ctx<'js>, state: &State, answer: &Answer) -> Result<Value<'js>> {
    let Answer { reply, message } = answer;
    let definitions = state.definitions();
    let types = Types(&definitions);
    let null = Value::new_null(ctx.clone());
    let message = match message {
        None => null.clone(),
        Some(message) => {
            let json = write(message, types).map_err(|error| {
                let text = format!("unable to convert response object to JSON: {error}");
                Exception::throw_message(ctx, &text)
            })?;
            ctx.json_parse(json)?
        }
    };
    let failure = reply.failure.as_ref();
    let error = match failure {
        None => null,
        Some(failure) => ctx.json_parse(error_json(failure, types))?,
    };
    let response = Object::new(ctx.clone())?;
    response.set("message", message)?;
    response.set("error", error)?;
    response.set("headers", metadata::object(ctx, &reply.headers)?)?;
    response.set("trailers", metadata::object(ctx, &reply.trailers)?)?;
    response.set("status", failure.map_or(0, |failure| failure.code as u8))?;
    Ok(response.into_value())
}

/// A failure as the JSON of `google.rpc.Status`; empty when its details have an unknown type, as in k6.
fn error_json(failure: &Status, types: Types<'_>) -> String {
    let Some(details) = details_json(failure, types) else {
        return "{}".to_owned();
    };
    let message = serde_json::Value::from(failure.message.as_str());
    format!(
        "{{\"code\":{},\"message\":{message},\"details\":{details}}}",
        failure.code as u8
    )
}

/// The details of a failure as JSON; `None` when one has an unknown type.
pub(super) fn details_json(failure: &Status, types: Types<'_>) -> Option<String> {
    let status = StatusDetails::decode(failure.details.as_slice()).unwrap_or_default();
    let details: std::result::Result<Vec<_>, _> =
        status.details.iter().map(|any| write_any(any, types)).collect();
    details.ok().map(|details| format!("[{}]", details.join(",")))
}
