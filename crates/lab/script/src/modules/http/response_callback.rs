//! `http.setResponseCallback`: which answers count as successful when a request does not say.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Exception, Result, Value};

use super::{expected::ExpectedStatuses, session::Session};

/// `http.setResponseCallback(…)`: for all requests of this virtual user that have none of their own; null for no
/// judgement.
pub(super) fn set_default<'js>(ctx: Ctx<'js>, callback: Value<'js>) -> Result<()> {
    let session = Session::of(&ctx);
    if callback.is_null() || callback.is_undefined() {
        session.expected.replace(None);
        return Ok(());
    }
    let callback = Class::<ExpectedStatuses>::from_value(&callback).map_err(|_| {
        let text = format!(
            "http.setResponseCallback() was given {}; expected http.expectedStatuses(…) or null",
            callback.type_name()
        );
        Exception::throw_type(&ctx, &text)
    })?;
    session
        .expected
        .replace(Some(Rc::clone(&callback.borrow().statuses)));
    Ok(())
}
