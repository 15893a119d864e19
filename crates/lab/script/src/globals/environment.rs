//! `__ENV`: the environment, as an object that stays empty while a script only reads it.
//!
//! An environment has dozens of variables, of which a script reads two or three. As properties, each would take about
//! 200 bytes in every virtual user. So a script gets a proxy whose `get` reads the environment itself. Any other
//! operation first creates all properties and removes the traps, which leaves an ordinary object.

use rquickjs::{
    Ctx, Function, Object, Result, Value,
    function::{Constructor, Rest, This},
    object::Property,
};

use crate::{arguments::utf8, host::Host, members::members};

/// The operations that need the properties of the object (ECMAScript 2025 §10.5).
const FILLING: [&str; 7] = [
    "defineProperty",
    "deleteProperty",
    "getOwnPropertyDescriptor",
    "has",
    "ownKeys",
    "preventExtensions",
    "set",
];

/// The object.
pub(super) fn build<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let handler = Object::new(ctx.clone())?;
    members![
        function c"get" => get,
        function c"defineProperty" => define_property,
        function c"deleteProperty" => delete_property,
        function c"getOwnPropertyDescriptor" => get_own_property_descriptor,
        function c"has" => has,
        function c"ownKeys" => own_keys,
        function c"preventExtensions" => prevent_extensions,
        function c"set" => set,
    ]
    .define(&handler)?;
    let proxy: Constructor<'js> = ctx.globals().get("Proxy")?;
    proxy.construct((Object::new(ctx.clone())?, handler))
}

/// Defines the traps that need the properties.
macro_rules! filling {
    ($($name:ident => $trap:literal),*) => {$(
        fn $name<'js>(
            ctx: Ctx<'js>,
            handler: This<Object<'js>>,
            arguments: Rest<Value<'js>>,
        ) -> Result<Value<'js>> {
            fill_and(&ctx, $trap, &handler, arguments)
        }
    )*};
}

filling!(
    define_property => "defineProperty",
    delete_property => "deleteProperty",
    get_own_property_descriptor => "getOwnPropertyDescriptor",
    has => "has",
    own_keys => "ownKeys",
    prevent_extensions => "preventExtensions",
    set => "set"
);

/// Gives the object its properties, and then does what the trap stands for.
fn fill_and<'js>(
    ctx: &Ctx<'js>,
    trap: &str,
    handler: &Object<'js>,
    arguments: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    fill(ctx, handler, &arguments)?;
    let reflect: Object<'js> = ctx.globals().get("Reflect")?;
    let function: Function<'js> = reflect.get(trap)?;
    function.call((arguments,))
}

fn get<'js>(ctx: Ctx<'js>, target: Object<'js>, name: Value<'js>) -> Result<Value<'js>> {
    if let Some(text) = name.as_string()
        && let Some(value) = Host::of(&ctx).program.env.get(&utf8(text)?)
    {
        return rquickjs::String::from_str(ctx, value).map(rquickjs::String::into_value);
    }
    target.get(name)
}

/// Gives the target, the first argument of every trap, its properties.
fn fill<'js>(ctx: &Ctx<'js>, handler: &Object<'js>, arguments: &[Value<'js>]) -> Result<()> {
    handler.remove("get")?;
    for trap in FILLING {
        handler.remove(trap)?;
    }
    let Some(target) = arguments.first().and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, value) in &Host::of(ctx).program.env {
        let property = Property::from(value.as_str());
        target.prop(name.as_str(), property.writable().enumerable().configurable())?;
    }
    Ok(())
}
