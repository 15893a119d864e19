//! Values that a script receives as `null` when they are missing.

use rquickjs::{Ctx, IntoJs, Result, Value};

/// A value or `null`. A plain `Option` becomes `undefined` instead.
pub(crate) struct OrNull<T>(pub(crate) Option<T>);

impl<'js, T: IntoJs<'js>> IntoJs<'js> for OrNull<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self.0 {
            Some(value) => value.into_js(ctx),
            None => Ok(Value::new_null(ctx.clone())),
        }
    }
}
