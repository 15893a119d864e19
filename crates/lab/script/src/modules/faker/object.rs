//! The objects of the module, whose properties are made when a script first reads them: a virtual user needs three or
//! four functions of three hundred.

use std::{cell::RefCell, rc::Rc};

use plimsoll_fake::{
    Function as Fake, Generator,
    catalog::{self, Category},
};
use rquickjs::{
    Atom, Class, Coerced, Ctx, Exception, JsLifetime, Object, Result, Value,
    class::{ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Readable, Trace},
    function::{Constructor, Opt},
    object::Property,
};

use super::function::{CALL, Shared, bound, call};

/// The category with all functions.
const ZEN: &str = "zen";

/// A Faker, or one of its categories.
#[derive(Trace, JsLifetime)]
pub(super) struct Faker {
    #[qjs(skip_trace)]
    contents: Contents,
    #[qjs(skip_trace)]
    generator: Shared,
    /// The properties that were made, and are ordinary ones since.
    #[qjs(skip_trace)]
    made: RefCell<Vec<String>>,
}

/// The properties of an object.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    Categories,
    Functions(&'static Category),
    AllFunctions,
}

impl Faker {
    /// A Faker with a seed; 0 is none.
    pub(super) fn new(seed: i64) -> Self {
        let seed = (seed != 0).then_some(seed.cast_unsigned());
        let generator = Generator::new(seed);
        Self::part(Contents::Categories, Rc::new(generator.into()))
    }

    pub(super) fn part(contents: Contents, generator: Shared) -> Self {
        Self {
            contents,
            generator,
            made: RefCell::default(),
        }
    }

    fn property<'js>(&self, ctx: &Ctx<'js>, name: &Atom<'js>) -> Result<Option<Value<'js>>> {
        property(ctx, self.contents, &self.generator, &name.to_string()?)
    }

    /// Whether a name is that of a property which loops list.
    fn is_listed(&self, name: &str) -> bool {
        name != CALL
    }

    /// Makes an ordinary property of this object, unless the script forbids new ones or reads through another object.
    fn keep<'js>(
        &self,
        ctx: &Ctx<'js>,
        receiver: &Value<'js>,
        name: &Atom<'js>,
        value: &Value<'js>,
    ) -> Result<()> {
        let object = receiver.as_object().and_then(Class::<Self>::from_object);
        let Some(object) = object.filter(|object| std::ptr::eq(&*object.borrow(), self)) else {
            return Ok(());
        };
        let text = name.to_string()?;
        let property = Property::from(value.clone()).configurable().writable();
        let kept = if self.is_listed(&text) {
            object.prop(name.clone(), property.enumerable())
        } else {
            object.prop(name.clone(), property)
        };
        match kept {
            Ok(()) => self.made.borrow_mut().push(text),
            Err(_) => drop(ctx.catch()),
        }
        Ok(())
    }
}

impl<'js> JsClass<'js> for Faker {
    const NAME: &'static str = "Faker";

    const KIND: ClassKind = ClassKind::Exotic;

    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Object::new(ctx.clone()).map(Some)
    }

    fn constructor(ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        constructor(ctx).map(Some)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        name: Atom<'js>,
        receiver: Value<'js>,
    ) -> Result<Value<'js>> {
        let faker = this.borrow();
        if let Some(value) = faker.property(ctx, &name)? {
            faker.keep(ctx, &receiver, &name, &value)?;
            return Ok(value);
        }
        match Class::<Self>::prototype(ctx)? {
            Some(prototype) => prototype.get(name),
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    }

    fn exotic_set_property(
        _: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        name: Atom<'js>,
        _: Value<'js>,
        _: Value<'js>,
    ) -> Result<bool> {
        let text = format!(
            "a Faker cannot be changed, so `{}` cannot be set",
            name.to_string()?
        );
        Err(Exception::throw_type(ctx, &text))
    }

    fn exotic_has_property(this: &JsCell<'js, Self>, ctx: &Ctx<'js>, name: Atom<'js>) -> Result<bool> {
        if this.borrow().property(ctx, &name)?.is_some() {
            return Ok(true);
        }
        match Class::<Self>::prototype(ctx)? {
            Some(prototype) => prototype.contains_key(name),
            None => Ok(false),
        }
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        name: Atom<'js>,
    ) -> Result<Option<PropertyDescriptor<'js>>> {
        let faker = this.borrow();
        let is_listed = faker.is_listed(&name.to_string()?);
        let value = faker.property(ctx, &name)?;
        Ok(value.map(|value| PropertyDescriptor::new_value(value, true, is_listed, true)))
    }

    fn exotic_get_own_property_names(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> Result<Vec<PropertyName<'js>>> {
        let faker = this.borrow();
        let made = faker.made.borrow();
        let call = matches!(faker.contents, Contents::Categories).then_some(CALL);
        let all = names(faker.contents).into_iter().chain(call);
        let others = all.filter(|name| !made.iter().any(|made| made == name));
        let name = |name: &str| {
            Ok(PropertyName {
                atom: Atom::from_str(ctx.clone(), name)?,
                is_enumerable: faker.is_listed(name),
            })
        };
        others.map(name).collect()
    }
}

/// `new Faker(seed)`. As in k6, a seed of 0 is none.
fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, seed: Opt<Value<'js>>| {
        let seed = seed.0.filter(|seed| !seed.is_undefined());
        let seed = seed.map_or(Ok(0.0), |seed| seed.get::<Coerced<f64>>().map(|seed| seed.0))?;
        Class::instance(ctx, Faker::new(seed as i64))
    };
    Constructor::new_class::<Faker, _, _>(ctx.clone(), make)
}

/// The property of a Faker, or of one of its categories.
fn property<'js>(
    ctx: &Ctx<'js>,
    contents: Contents,
    generator: &Shared,
    name: &str,
) -> Result<Option<Value<'js>>> {
    let fake = match contents {
        Contents::Categories if name == CALL => return call(ctx, Rc::clone(generator)).map(Some),
        Contents::Categories => {
            let contents = match catalog::category_of(name) {
                Some(category) => Contents::Functions(category),
                None if name == ZEN => Contents::AllFunctions,
                None => return Ok(None),
            };
            let category = Class::instance(ctx.clone(), Faker::part(contents, Rc::clone(generator)))?;
            return Ok(Some(category.into_value()));
        }
        Contents::Functions(category) => category.function(name),
        Contents::AllFunctions => catalog::function(name),
    };
    fake.map(|fake| bound(ctx, fake, Rc::clone(generator)))
        .transpose()
}

/// The names of the properties, without `call`.
fn names(contents: Contents) -> Vec<&'static str> {
    let of = |function: &Fake| function.name;
    match contents {
        Contents::Categories => {
            let categories = catalog::CATEGORIES
                .iter()
                .map(|category: &Category| category.name);
            categories.chain([ZEN]).collect()
        }
        Contents::Functions(category) => category.functions().map(of).collect(),
        Contents::AllFunctions => catalog::functions().map(of).collect(),
    }
}
