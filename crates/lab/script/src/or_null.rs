//! What a script gets as `null` when there is nothing.

use rquickjs::{Ctx, IntoJs, Result, Value};

/// A value or `null`; an `Option` by itself becomes `undefined`.
pub(crate) struct OrNull<T>(pub(crate) Option<T>);

impl<'js, T: IntoJs<'js>> IntoJs<'js> for OrNull<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self.0 {
            Some(value) => value.into_js(ctx),
            None => Ok(Value::new_null(ctx.clone())),
        }
    }
}
