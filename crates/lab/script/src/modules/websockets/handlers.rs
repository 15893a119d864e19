//! The properties `onopen`, `onmessage` and so on.

use rquickjs::{Class, Ctx, Exception, Object, Result, Value, function::This, object::Accessor};

use super::{listeners::Kind, socket::WebSocket};

/// Defines the property of `kind`: null, or a function.
pub(super) fn define_handlers<'js>(prototype: &Object<'js>, kind: Kind) -> Result<()> {
    let get = move |this: This<Class<'js, WebSocket<'js>>>| this.0.borrow().listeners.property(kind);
    let set = move |ctx: Ctx<'js>, this: This<Class<'js, WebSocket<'js>>>, value: Value<'js>| {
        let is_none = value.is_null() || value.is_undefined();
        let function = value.into_function();
        if function.is_none() && !is_none {
            let text = format!("a value for '{}' should be callable", kind.property());
            return Err(Exception::throw_type(&ctx, &text));
        }
        this.0.borrow().listeners.set_property(kind, function);
        Ok(())
    };
    prototype.prop(
        kind.property(),
        Accessor::new(get, set).enumerable().configurable(),
    )
}
