//! The own properties of responses. Those of k6 have their fields and methods as own properties, so scripts list and copy
//! them: `Object.keys(res)`, `{ ...res }`. Twenty properties cost more than sending the request, so a response has none:
//! the engine asks its class for them.

use rquickjs::{
    Atom, Ctx, Error, Function, JsLifetime, Object, Result, Value,
    class::{ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Writable, impl_},
    function::This,
    object::Property,
};

use super::{Change, Response, fields::FIELDS};

/// The methods that are own properties, in k6's order.
const METHODS: [&str; 4] = ["clickLink", "html", "json", "submitForm"];

/// The own properties of every response of a context, made with the first one.
#[derive(Clone, JsLifetime)]
pub(super) struct OwnProperties<'js> {
    prototype: Object<'js>,
    all: Vec<OwnProperty<'js>>,
}

#[derive(Clone, JsLifetime)]
struct OwnProperty<'js> {
    name: Atom<'js>,
    get: Function<'js>,
}

impl<'js> JsClass<'js> for Response<'js> {
    const NAME: &'static str = "Response";

    const KIND: ClassKind = ClassKind::Exotic;

    type Mutable = Writable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        use impl_::MethodImplementor as _;
        let prototype = Object::new(ctx.clone())?;
        impl_::MethodImpl::<Self>::new().implement(&prototype)?;
        let own = OwnProperties::new(ctx, prototype.clone())?;
        ctx.store_userdata(own).map_err(|_| Error::Unknown)?;
        Ok(Some(prototype))
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        name: Atom<'js>,
        receiver: Value<'js>,
    ) -> Result<Value<'js>> {
        let found = {
            let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
            match own.position(&name) {
                Some(_) if change(this, &name)?.is_some() => {
                    return Ok(Value::new_undefined(ctx.clone()));
                }
                Some(position) => Ok(own.all[position].get.clone()),
                None => Err(own.prototype.clone()),
            }
        };
        match found {
            Ok(get) => get.call((This(receiver),)),
            Err(prototype) => prototype.get(name),
        }
    }

    fn exotic_set_property(
        this: &JsCell<'js, Self>,
        _: &Ctx<'js>,
        name: Atom<'js>,
        receiver: Value<'js>,
        value: Value<'js>,
    ) -> Result<bool> {
        remember(this, name.clone(), true)?;
        if let Some(object) = receiver.as_object() {
            // What a script assigns is a property of its own, which the engine finds first.
            object.prop(name, Property::from(value).writable().enumerable().configurable())?;
        }
        Ok(true)
    }

    fn exotic_delete_property(this: &JsCell<'js, Self>, ctx: &Ctx<'js>, name: Atom<'js>) -> Result<bool> {
        let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
        // Other names are absent already; a script may delete any number of them.
        if own.position(&name).is_some() {
            remember(this, name, false)?;
        }
        Ok(true)
    }

    fn exotic_has_property(this: &JsCell<'js, Self>, ctx: &Ctx<'js>, name: Atom<'js>) -> Result<bool> {
        if let Some(exists) = change(this, &name)? {
            return Ok(exists);
        }
        let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
        Ok(own.position(&name).is_some() || own.prototype.contains_key(name)?)
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        name: Atom<'js>,
    ) -> Result<Option<PropertyDescriptor<'js>>> {
        let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
        let Some(position) = own.position(&name) else {
            return Ok(None);
        };
        if change(this, &name)?.is_some() {
            return Ok(None);
        }
        let undefined = || Value::new_undefined(ctx.clone());
        Ok(Some(PropertyDescriptor {
            value: undefined(),
            getter: own.all[position].get.clone().into_value(),
            setter: undefined(),
            configurable: true,
            enumerable: true,
            writable: true,
            is_getset: true,
        }))
    }

    fn exotic_get_own_property_names(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> Result<Vec<PropertyName<'js>>> {
        let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
        let mut names = Vec::with_capacity(own.all.len());
        for property in &own.all {
            if change(this, &property.name)?.is_none() {
                names.push(PropertyName {
                    atom: property.name.clone(),
                    is_enumerable: true,
                });
            }
        }
        Ok(names)
    }
}

/// Whether the script has assigned or deleted the property: `Some(true)` and `Some(false)`. A method of the response may be
/// at work, so asking can fail.
fn change<'js>(response: &JsCell<'js, Response<'js>>, name: &Atom<'js>) -> Result<Option<bool>> {
    let response = response.try_borrow().map_err(Error::ClassBorrow)?;
    let mut changed = response.changed.iter();
    Ok(changed
        .find(|change| change.name == *name)
        .map(|change| change.exists))
}

fn remember<'js>(response: &JsCell<'js, Response<'js>>, name: Atom<'js>, exists: bool) -> Result<()> {
    let mut response = response.try_borrow_mut().map_err(Error::ClassBorrow)?;
    response.changed.retain(|change| change.name != name);
    response.changed.push(Change { name, exists });
    Ok(())
}

impl<'js> OwnProperties<'js> {
    /// Takes the getters of the fields from the prototype.
    fn new(ctx: &Ctx<'js>, prototype: Object<'js>) -> Result<Self> {
        let objects: Object<'js> = ctx.globals().get("Object")?;
        let describe: Function<'js> = objects.get("getOwnPropertyDescriptor")?;
        let mut all = Vec::with_capacity(FIELDS.len() + METHODS.len());
        for name in FIELDS {
            let described: Object<'js> = describe.call((prototype.clone(), name))?;
            all.push(OwnProperty {
                name: Atom::from_str(ctx.clone(), name)?,
                get: described.get("get")?,
            });
        }
        for name in METHODS {
            let get = move |ctx: Ctx<'js>, this: This<Value<'js>>| bound(&ctx, name, this.0);
            all.push(OwnProperty {
                name: Atom::from_str(ctx.clone(), name)?,
                get: Function::new(ctx.clone(), get)?,
            });
        }
        Ok(Self { prototype, all })
    }

    fn position(&self, name: &Atom<'js>) -> Option<usize> {
        self.all.iter().position(|property| property.name == *name)
    }
}

/// A method that keeps its response: copies have it, too.
fn bound<'js>(ctx: &Ctx<'js>, name: &str, response: Value<'js>) -> Result<Value<'js>> {
    let prototype = {
        let own = ctx.userdata::<OwnProperties<'js>>().ok_or(Error::Unknown)?;
        own.prototype.clone()
    };
    let method: Function<'js> = prototype.get(name)?;
    let bind: Function<'js> = method.get("bind")?;
    bind.call((This(method), response))
}
