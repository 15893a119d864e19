//! A message as scripts get it.

use plimsoll_clients::cable::session::Message;
use rquickjs::{Ctx, Result, Value};

/// The value of its JSON; an object says in `__timestamp__` when it was read from the socket, in milliseconds of Unix
/// time.
pub(super) fn to_js<'js>(ctx: &Ctx<'js>, message: &Message) -> Result<Value<'js>> {
    let value = ctx.json_parse(message.json.as_bytes())?;
    if let Some(object) = value.as_object().filter(|_| !value.is_array()) {
        object.set("__timestamp__", message.unix_ms as f64)?;
    }
    Ok(value)
}
