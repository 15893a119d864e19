//! What a script does with the page in a response: finding in it, and sending its forms and links.

use plimsoll_clients::http::Url;
use rquickjs::{
    Class, Coerced, Ctx, Exception, FromJs, Function, IntoJs as _, Object, Result, Value, function::This,
};

use super::send;
use crate::modules::html::{self, Selection, SelectorError};

/// The result of `Response.html(selector)`; the whole page without a selector.
pub(super) fn find<'js>(
    ctx: &Ctx<'js>,
    page: Value<'js>,
    selector: Option<Value<'js>>,
) -> Result<Value<'js>> {
    let Some(selector) = selector.filter(|selector| !selector.is_undefined() && !selector.is_null()) else {
        return Ok(page);
    };
    let page = Object::from_js(ctx, page)?;
    let find: Function<'js> = page.get("find")?;
    find.call((This(page), selector))
}

/// Sends the form that the arguments `formSelector`, `submitSelector`, `fields` and `params` say.
pub(super) fn submit_form<'js>(
    ctx: &Ctx<'js>,
    page: &Value<'js>,
    base: Option<Url>,
    arguments: Option<&Object<'js>>,
) -> Result<Value<'js>> {
    let form_selector = text(arguments, "formSelector", "form")?;
    let submit_selector = text(arguments, "submitSelector", "[type=\"submit\"]")?;
    let fields = match argument::<Object<'js>>(arguments, "fields")? {
        Some(fields) => fields
            .props::<String, Coerced<String>>()
            .map(|field| field.map(|(name, value)| (name, value.0)))
            .collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let page = Class::<Selection>::from_value(page)?;
    let form = html::form(&page.borrow(), &form_selector, &submit_selector, &fields)
        .map_err(|error| refuse(ctx, &error))?;
    let Some(form) = form else {
        let text = format!("no form of the page matches `{form_selector}`");
        return Err(Exception::throw_message(ctx, &text));
    };
    let mut url = resolve(ctx, base, &form.action)?;
    let params = argument::<Value<'js>>(arguments, "params")?;
    if form.method != "GET" {
        let body = object_of(ctx, &form.fields)?.into_value();
        return send::blocking(
            ctx,
            &form.method,
            &url.as_str().into_js(ctx)?,
            Some(&body),
            params.as_ref(),
        );
    }
    // The fields replace the query of the action (HTML, 4.10.22.3).
    url.query_pairs_mut().clear().extend_pairs(&form.fields);
    send::blocking(ctx, "GET", &url.as_str().into_js(ctx)?, None, params.as_ref())
}

/// Follows the link that the arguments `selector` and `params` choose.
pub(super) fn click_link<'js>(
    ctx: &Ctx<'js>,
    page: &Value<'js>,
    base: Option<Url>,
    arguments: Option<&Object<'js>>,
) -> Result<Value<'js>> {
    let selector = text(arguments, "selector", "a[href]")?;
    let page = Class::<Selection>::from_value(page)?;
    let link = html::link(&page.borrow(), &selector).map_err(|error| refuse(ctx, &error))?;
    let Some(link) = link else {
        let text = format!("no link of the page matches `{selector}`, or the first that does has no href");
        return Err(Exception::throw_message(ctx, &text));
    };
    let url = resolve(ctx, base, &link)?;
    let params = argument::<Value<'js>>(arguments, "params")?;
    send::blocking(ctx, "GET", &url.as_str().into_js(ctx)?, None, params.as_ref())
}

fn argument<'js, T: FromJs<'js>>(arguments: Option<&Object<'js>>, name: &str) -> Result<Option<T>> {
    match arguments {
        Some(arguments) => arguments.get(name),
        None => Ok(None),
    }
}

fn text(arguments: Option<&Object<'_>>, name: &str, default: &str) -> Result<String> {
    let text = argument(arguments, name)?;
    Ok(text.unwrap_or_else(|| default.to_owned()))
}

fn resolve(ctx: &Ctx<'_>, base: Option<Url>, address: &str) -> Result<Url> {
    let url = base.and_then(|base| base.join(address).ok());
    url.ok_or_else(|| {
        let text = format!("the page links to `{address}`, which is not a URL");
        Exception::throw_message(ctx, &text)
    })
}

/// As the body of a request: several fields of one name are a list.
fn object_of<'js>(ctx: &Ctx<'js>, fields: &[(String, String)]) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in fields {
        let mut values: Vec<String> = object.get::<_, Option<_>>(name)?.unwrap_or_default();
        values.push(value.clone());
        object.set(name, values)?;
    }
    Ok(object)
}

fn refuse(ctx: &Ctx<'_>, error: &SelectorError) -> rquickjs::Error {
    Exception::throw_syntax(ctx, &error.to_string())
}
