//! The own properties of responses. Those of k6 have their fields and methods as own properties, so scripts list and
//! copy them: `Object.keys(res)`, `{ ...res }`. Their functions are made once per user.

use rquickjs::{
    Class, Ctx, Error, Function, JsLifetime, Object, Result, Value,
    function::This,
    object::{AsProperty, Property},
    qjs,
};

use super::{Response, fields::FIELDS};

/// The methods that are own properties, in k6's order.
const METHODS: [&str; 4] = ["clickLink", "html", "json", "submitForm"];

/// The properties that each response gets.
#[derive(JsLifetime)]
struct OwnProperties<'js>(Vec<OwnProperty<'js>>);

#[derive(JsLifetime)]
struct OwnProperty<'js> {
    name: String,
    get: Value<'js>,
    set: Value<'js>,
}

impl<'js> AsProperty<'js, ()> for &OwnProperty<'js> {
    fn config(self, ctx: &Ctx<'js>) -> Result<(qjs::c_int, Value<'js>, Value<'js>, Value<'js>)> {
        let flags = qjs::JS_PROP_HAS_GET
            | qjs::JS_PROP_HAS_SET
            | qjs::JS_PROP_HAS_ENUMERABLE
            | qjs::JS_PROP_ENUMERABLE
            | qjs::JS_PROP_HAS_CONFIGURABLE
            | qjs::JS_PROP_CONFIGURABLE;
        let value = Value::new_undefined(ctx.clone());
        Ok((flags as qjs::c_int, value, self.get.clone(), self.set.clone()))
    }
}

/// The object of a response.
///
/// # Errors
/// When there is no memory for it.
pub(in crate::modules::http) fn object<'js>(ctx: &Ctx<'js>, response: Response<'js>) -> Result<Value<'js>> {
    let object = Class::instance(ctx.clone(), response)?.into_inner();
    if ctx.userdata::<OwnProperties<'js>>().is_none() {
        let own = OwnProperties::new(ctx)?;
        ctx.store_userdata(own).map_err(|_| Error::Unknown)?;
    }
    let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
    for property in &own.0 {
        object.prop(property.name.as_str(), property)?;
    }
    Ok(object.into_value())
}

impl<'js> OwnProperties<'js> {
    fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let prototype = Class::<Response<'js>>::prototype(ctx)?.ok_or(Error::Unknown)?;
        let objects: Object<'js> = ctx.globals().get("Object")?;
        let describe: Function<'js> = objects.get("getOwnPropertyDescriptor")?;
        let mut own = Vec::with_capacity(FIELDS.len() + METHODS.len());
        for name in FIELDS {
            let described: Object<'js> = describe.call((prototype.clone(), name))?;
            own.push(OwnProperty {
                name: name.to_owned(),
                get: described.get("get")?,
                set: setter(ctx, name)?,
            });
        }
        for name in METHODS {
            let get = move |ctx: Ctx<'js>, this: This<Value<'js>>| bound(&ctx, name, this.0);
            own.push(OwnProperty {
                name: name.to_owned(),
                get: Function::new(ctx.clone(), get)?.into_value(),
                set: setter(ctx, name)?,
            });
        }
        Ok(Self(own))
    }
}

/// A method that keeps its response: copies have it, too.
fn bound<'js>(ctx: &Ctx<'js>, name: &str, response: Value<'js>) -> Result<Value<'js>> {
    let prototype = Class::<Response<'js>>::prototype(ctx)?.ok_or(Error::Unknown)?;
    let method: Function<'js> = prototype.get(name)?;
    let bind: Function<'js> = method.get("bind")?;
    bind.call((This(method), response))
}

/// What a script assigns replaces the property.
fn setter<'js>(ctx: &Ctx<'js>, name: &'static str) -> Result<Value<'js>> {
    let set = move |this: This<Object<'js>>, value: Value<'js>| {
        let property = Property::from(value).writable().enumerable().configurable();
        this.0.prop(name, property)
    };
    Ok(Function::new(ctx.clone(), set)?.into_value())
}
