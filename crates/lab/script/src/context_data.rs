//! Data of Rust code that lives as long as a context.

use std::any::Any;

use rquickjs::{Ctx, Exception, JsLifetime, Result};

/// Stores data in a context; `Ctx::userdata` finds it by its type.
///
/// # Errors
/// Data of the same type is being read.
pub(crate) fn store<'js, T>(ctx: &Ctx<'js>, data: T) -> Result<()>
where
    T: JsLifetime<'js>,
    T::Changed<'static>: Any,
{
    ctx.store_userdata(data)
        .map(drop)
        .map_err(|error| Exception::throw_internal(ctx, &error.to_string()))
}
