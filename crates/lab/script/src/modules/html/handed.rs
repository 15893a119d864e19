//! Elements as scripts get them: with the methods of their kind, which others do not have.

use std::{cell::RefCell, collections::HashMap};

use rquickjs::{Class, Ctx, Function, IntoJs, JsLifetime, Object, Result, Value, function::This};

use super::{
    accessor::{Accessor, Reading},
    accessors,
    element::Element,
};
use crate::context_data;

/// An element on its way to a script.
pub(super) struct Handed(pub(super) Element);

/// The prototypes of kinds of elements, made when a script first gets one of the kind.
#[derive(Default, JsLifetime)]
struct Prototypes<'js> {
    of_tags: RefCell<HashMap<String, Object<'js>>>,
}

impl<'js> IntoJs<'js> for Handed {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let name = self.0.node().node_name();
        let tag = name.and_then(|name| accessors::known_tag(&name));
        let element = Class::instance(ctx.clone(), self.0)?.into_value();
        if let (Some(tag), Some(object)) = (tag, element.as_object()) {
            object.set_prototype(Some(&prototype(ctx, tag)?))?;
        }
        Ok(element)
    }
}

fn prototype<'js>(ctx: &Ctx<'js>, tag: &'static str) -> Result<Object<'js>> {
    if ctx.userdata::<Prototypes<'js>>().is_none() {
        context_data::store(ctx, Prototypes::default())?;
    }
    let known = ctx
        .userdata::<Prototypes<'js>>()
        .and_then(|prototypes| prototypes.of_tags.borrow().get(tag).cloned());
    if let Some(known) = known {
        return Ok(known);
    }
    let made = Object::new(ctx.clone())?;
    made.set_prototype(Class::<Element>::prototype(ctx)?.as_ref())?;
    for accessor in accessors::of(tag) {
        let read =
            move |ctx: Ctx<'js>, element: This<Class<'js, Element>>| hand(&ctx, &element.borrow(), accessor);
        made.set(
            accessor.name,
            Function::new(ctx.clone(), read)?.with_name(accessor.name)?,
        )?;
    }
    if let Some(prototypes) = ctx.userdata::<Prototypes<'js>>() {
        prototypes
            .of_tags
            .borrow_mut()
            .insert(tag.to_owned(), made.clone());
    }
    Ok(made)
}

fn hand<'js>(ctx: &Ctx<'js>, element: &Element, accessor: &Accessor) -> Result<Value<'js>> {
    let other = |id| Handed(Element::new(&element.page, id));
    match accessor.read(element.node(), element.page.address()) {
        Reading::Nothing => Ok(Value::new_undefined(ctx.clone())),
        Reading::Text(text) => text.into_js(ctx),
        Reading::Texts(texts) => texts.into_js(ctx),
        Reading::Truth(truth) => truth.into_js(ctx),
        Reading::Number(number) => number.into_js(ctx),
        Reading::Node(id) => other(id).into_js(ctx),
        Reading::Nodes(ids) => ids.into_iter().map(other).collect::<Vec<_>>().into_js(ctx),
    }
}
