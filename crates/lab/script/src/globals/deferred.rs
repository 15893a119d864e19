//! Globals that are made when a script first asks for them: few scripts do, and thousands of virtual users would each
//! keep them in memory.

use rquickjs::{
    Ctx, IntoJs, Object, Result, Value,
    object::{Accessor, Property},
};

/// Makes `name` global. Until a script reads or sets it, it is an accessor, as some globals of other engines are; from
/// then on it is an ordinary property with what `make` gave, or what the script gave it.
pub(crate) fn define<'js, F, V>(globals: &Object<'js>, name: &'static str, make: F) -> Result<()>
where
    F: Fn(&Ctx<'js>) -> Result<V> + 'js,
    V: IntoJs<'js>,
{
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?.into_js(&ctx)?;
        settle(&ctx, name, value.clone())?;
        Ok::<_, rquickjs::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| settle(&ctx, name, value);
    globals.prop(name, Accessor::new(get, set).configurable().enumerable())
}

fn settle<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<()> {
    let property = Property::from(value).writable().enumerable().configurable();
    ctx.globals().prop(name, property)
}
