//! `k6/data`: data that all virtual users read and that is in memory once.

use std::sync::Arc;

use rquickjs::{Array, Ctx, Exception, Function, IntoJs as _, Object, Result, Value, function::Constructor};

use super::module::{Module, same};
use crate::{
    arguments::{Text, items},
    host::{Host, Stage},
    program::SharedItems,
};

pub(super) const MODULE: Module = Module {
    id: "k6/data",
    build,
    api: &[same("SharedArray")],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    let constructor = Function::new(ctx.clone(), shared_array)?.with_name("SharedArray")?;
    exports.set("SharedArray", constructor.with_constructor(true))?;
    Ok(exports)
}

/// `new SharedArray(name, fn)`: an array whose items are read from their JSON on access.
fn shared_array<'js>(ctx: Ctx<'js>, Text(name): Text, make: Function<'js>) -> Result<Value<'js>> {
    let host = Host::of(&ctx);
    if host.stage() != Stage::Init {
        let text = "new SharedArray() must be called in the init context, outside of functions";
        return Err(Exception::throw_message(&ctx, text));
    }
    if name.is_empty() {
        return Err(Exception::throw_type(
            &ctx,
            "new SharedArray() needs a name that is not empty",
        ));
    }
    let items = match host.program.shared_items(&name) {
        Some(items) => items,
        None => {
            let items: SharedItems = items_of(&ctx, &name, &make)?.into();
            host.program.keep_shared_items(&name, items)
        }
    };
    array(&ctx, &name, items)
}

/// The items of the array that `make` returns, each as JSON.
fn items_of<'js>(ctx: &Ctx<'js>, name: &str, make: &Function<'js>) -> Result<Vec<Box<str>>> {
    let made: Value<'js> = make.call(())?;
    let refuse = |found: &str| {
        let text = format!("the function of the SharedArray `{name}` returned {found}; expected an array");
        Exception::throw_type(ctx, &text)
    };
    if made.is_promise() {
        return Err(refuse("a promise"));
    }
    let array: &Array<'js> = made.as_array().ok_or_else(|| refuse(made.type_name()))?;
    items::<Value<'js>>(array)?
        .map(|item| {
            let json = ctx
                .json_stringify(item?)?
                .map(|json| json.to_string())
                .transpose()?;
            // What JSON cannot say becomes null, as inside of arrays.
            Ok(json.unwrap_or_else(|| "null".to_owned()).into())
        })
        .collect()
}

/// A shared array: it has the items without holding them.
///
/// # Errors
/// When there is no memory for it.
pub(super) fn array<'js>(ctx: &Ctx<'js>, name: &str, items: SharedItems) -> Result<Value<'js>> {
    let target = Array::new(ctx.clone())?;
    let handler = Object::new(ctx.clone())?;
    let own = Arc::clone(&items);
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| match index_of(&key) {
        Some(index) => item(&ctx, &own, index),
        None if is_length(&key) => own.len().into_js(&ctx),
        None => target.get::<_, Value<'js>>(key),
    };
    let own = Arc::clone(&items);
    let has = move |target: Object<'js>, key: Value<'js>| match index_of(&key) {
        Some(index) => Ok(index < own.len()),
        None => target.contains_key(key),
    };
    let len = items.len();
    let keys = move || -> Vec<String> {
        let indices = (0..len).map(|index| index.to_string());
        indices.chain(["length".to_owned()]).collect()
    };
    let describe = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>| {
        let property = Object::new(ctx.clone())?;
        let is_item = match index_of(&key) {
            Some(index) if index < items.len() => {
                property.set("value", item(&ctx, &items, index)?)?;
                true
            }
            _ if is_length(&key) => {
                property.set("value", items.len())?;
                false
            }
            _ => return Ok(Value::new_undefined(ctx)),
        };
        // As far as a proxy may say so: an item that cannot be changed would have to be one of its target.
        property.set("enumerable", is_item)?;
        property.set("configurable", is_item)?;
        property.set("writable", !is_item)?;
        Ok::<_, rquickjs::Error>(property.into_value())
    };
    let name = name.to_owned();
    let refuse = move |ctx: Ctx<'js>| -> Result<bool> {
        let text = format!(
            "the SharedArray `{name}` cannot be changed: all virtual users share it; copy it first, for example [...array]"
        );
        Err(Exception::throw_type(&ctx, &text))
    };
    handler.set("get", Function::new(ctx.clone(), get)?)?;
    handler.set("has", Function::new(ctx.clone(), has)?)?;
    handler.set("ownKeys", Function::new(ctx.clone(), keys)?)?;
    handler.set("getOwnPropertyDescriptor", Function::new(ctx.clone(), describe)?)?;
    let refuse = Function::new(ctx.clone(), refuse)?;
    for trap in ["set", "deleteProperty", "defineProperty"] {
        handler.set(trap, refuse.clone())?;
    }
    let proxy: Constructor<'js> = ctx.globals().get("Proxy")?;
    proxy.construct((target, handler))
}

/// The index that a property's key is.
fn index_of(key: &Value<'_>) -> Option<usize> {
    key.as_string()?.to_string().ok()?.parse().ok()
}

fn is_length(key: &Value<'_>) -> bool {
    key.as_string()
        .is_some_and(|key| key.to_string().is_ok_and(|key| key == "length"))
}

fn item<'js>(ctx: &Ctx<'js>, items: &SharedItems, index: usize) -> Result<Value<'js>> {
    match items.get(index) {
        Some(json) => {
            let value = ctx.json_parse(&**json)?;
            let object: Object<'js> = ctx.globals().get("Object")?;
            freeze(&object.get("freeze")?, &value)?;
            Ok(value)
        }
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Data from JSON: as deep as the script's stack let its parser go.
fn freeze<'js>(freeze_one: &Function<'js>, value: &Value<'js>) -> Result<()> {
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    freeze_one.call::<_, ()>((object.clone(),))?;
    object
        .values::<Value<'js>>()
        .try_for_each(|inner| freeze(freeze_one, &inner?))
}
