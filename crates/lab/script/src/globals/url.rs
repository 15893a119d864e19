//! `URL` and `URLSearchParams` (WHATWG URL).

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use rquickjs::{
    Array, Class, Coerced, Ctx, Error, Exception, Function, IntoJs as _, JsLifetime, Object, Result, Value,
    class::{JsClass, Trace, Tracer},
    function::{Constructor, Opt, This},
    object::Accessor,
};

use super::{Reachable, deferred};
use crate::arguments::items;

/// Installs those that the script can reach. As the parameters of a URL lead from one to the other, both are made when a script asks for either.
pub(super) fn install<'js>(globals: &Object<'js>, reachable: &Reachable) -> Result<()> {
    let are_made = Rc::new(Cell::new(false));
    let make = Rc::clone(&are_made);
    if reachable.has("URL") {
        deferred::define(globals, "URL", move |ctx| {
            make_once(ctx, &make)?;
            constructor::<Url<'js>>(ctx)
        })?;
    }
    if reachable.has("URLSearchParams") {
        deferred::define(globals, "URLSearchParams", move |ctx| {
            make_once(ctx, &are_made)?;
            constructor::<UrlSearchParams<'js>>(ctx)
        })?;
    }
    Ok(())
}

fn make_once<'js>(ctx: &Ctx<'js>, are_made: &Cell<bool>) -> Result<()> {
    if are_made.replace(true) {
        return Ok(());
    }
    Class::<Url<'_>>::create_constructor(ctx)?;
    Class::<UrlSearchParams<'_>>::create_constructor(ctx)?;
    if let Some(prototype) = Class::<Url<'_>>::prototype(ctx)? {
        let params = |this: This<Class<'js, Url<'js>>>| UrlSearchParams { url: this.0 };
        prototype.prop("searchParams", Accessor::new_get(params).configurable())?;
    }
    if let Some(prototype) = Class::<UrlSearchParams<'_>>::prototype(ctx)? {
        let symbols: Object<'_> = ctx.globals().get("Symbol")?;
        let iterator: Value<'_> = symbols.get("iterator")?;
        let entries: Value<'_> = prototype.get("entries")?;
        prototype.set(iterator, entries)?;
    }
    Ok(())
}

/// The constructor that a class was made with.
fn constructor<'js, C: JsClass<'js>>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let prototype = Class::<C>::prototype(ctx)?.ok_or(Error::Unknown)?;
    prototype.get("constructor")
}

/// An address as text, in the engine's heap, so that it counts as the script's memory.
#[derive(JsLifetime)]
struct Address<'js>(RefCell<rquickjs::String<'js>>);

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "URL")]
struct Url<'js> {
    address: Address<'js>,
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "URLSearchParams")]
struct UrlSearchParams<'js> {
    /// The URL of the parameters.
    url: Class<'js, Url<'js>>,
}

impl<'js> Address<'js> {
    fn new(ctx: &Ctx<'js>, url: &url::Url) -> Result<Self> {
        let text = rquickjs::String::from_str(ctx.clone(), url.as_str())?;
        Ok(Self(RefCell::new(text)))
    }

    fn parse(&self) -> Result<url::Url> {
        let text = self.0.borrow().clone();
        url::Url::parse(&text.to_string()?)
            .map_err(|error| Exception::throw_internal(text.ctx(), &error.to_string()))
    }

    /// Changes the URL. A part that is set to an invalid value keeps its old value (WHATWG URL, API).
    fn change<R>(&self, change: impl FnOnce(&mut url::Url) -> R) -> Result<()> {
        let mut url = self.parse()?;
        change(&mut url);
        let ctx = self.0.borrow().ctx().clone();
        self.0.replace(rquickjs::String::from_str(ctx, url.as_str())?);
        Ok(())
    }
}

impl<'js> Trace<'js> for Address<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // While the address is being replaced, the code that replaces it also keeps the text alive.
        if let Ok(text) = self.0.try_borrow() {
            text.trace(tracer);
        }
    }
}

/// The URL that `text` is, or means on a page of the URL `base`.
fn parse(ctx: &Ctx<'_>, text: &str, base: Option<&str>) -> Result<url::Url> {
    let parsed = match base {
        Some(base) => url::Url::parse(base).and_then(|base| base.join(text)),
        None => url::Url::parse(text),
    };
    parsed.map_err(|error| {
        let text = plimsoll_redacted::url_with_query(text);
        let text =
            format!("`{text}` is not a URL ({error}); expected something like https://example.com/path?a=1");
        Exception::throw_type(ctx, &text)
    })
}

#[rquickjs::methods(rename_all = "camelCase")]
impl<'js> Url<'js> {
    #[qjs(constructor)]
    fn new(ctx: Ctx<'js>, url: Coerced<String>, base: Opt<Option<Coerced<String>>>) -> Result<Self> {
        let base = base.0.flatten();
        let url = parse(&ctx, &url, base.as_ref().map(|base| base.0.as_str()))?;
        let address = Address::new(&ctx, &url)?;
        Ok(Self { address })
    }

    /// Whether the constructor would take these arguments.
    #[qjs(static)]
    fn can_parse(url: Coerced<String>, base: Opt<Option<Coerced<String>>>) -> bool {
        match base.0.flatten() {
            Some(base) => url::Url::parse(&base).is_ok_and(|base| base.join(&url).is_ok()),
            None => url::Url::parse(&url).is_ok(),
        }
    }

    #[qjs(get, rename = "href")]
    fn href(&self) -> Result<String> {
        Ok(self.address.parse()?.into())
    }

    #[qjs(set, rename = "href")]
    fn set_href(&self, ctx: Ctx<'js>, value: Coerced<String>) -> Result<()> {
        let url = parse(&ctx, &value, None)?;
        self.address.change(|address| *address = url)
    }

    #[qjs(get)]
    fn origin(&self) -> Result<String> {
        Ok(self.address.parse()?.origin().ascii_serialization())
    }

    #[qjs(get, rename = "protocol")]
    fn protocol(&self) -> Result<String> {
        Ok(url::quirks::protocol(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "protocol")]
    fn set_protocol(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_protocol(url, &value))
    }

    #[qjs(get, rename = "username")]
    fn username(&self) -> Result<String> {
        Ok(self.address.parse()?.username().to_owned())
    }

    #[qjs(set, rename = "username")]
    fn set_username(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_username(url, &value))
    }

    #[qjs(get, rename = "password")]
    fn password(&self) -> Result<String> {
        Ok(self.address.parse()?.password().unwrap_or_default().to_owned())
    }

    #[qjs(set, rename = "password")]
    fn set_password(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_password(url, &value))
    }

    #[qjs(get, rename = "host")]
    fn host(&self) -> Result<String> {
        Ok(url::quirks::host(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "host")]
    fn set_host(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_host(url, &value))
    }

    #[qjs(get, rename = "hostname")]
    fn hostname(&self) -> Result<String> {
        Ok(url::quirks::hostname(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "hostname")]
    fn set_hostname(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_hostname(url, &value))
    }

    #[qjs(get, rename = "port")]
    fn port(&self) -> Result<String> {
        Ok(url::quirks::port(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "port")]
    fn set_port(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_port(url, &value))
    }

    #[qjs(get, rename = "pathname")]
    fn pathname(&self) -> Result<String> {
        Ok(self.address.parse()?.path().to_owned())
    }

    #[qjs(set, rename = "pathname")]
    fn set_pathname(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_pathname(url, &value))
    }

    #[qjs(get, rename = "search")]
    fn search(&self) -> Result<String> {
        Ok(url::quirks::search(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "search")]
    fn set_search(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_search(url, &value))
    }

    #[qjs(get, rename = "hash")]
    fn hash(&self) -> Result<String> {
        Ok(url::quirks::hash(&self.address.parse()?).to_owned())
    }

    #[qjs(set, rename = "hash")]
    fn set_hash(&self, value: Coerced<String>) -> Result<()> {
        self.address.change(|url| url::quirks::set_hash(url, &value))
    }

    #[qjs(rename = "toString")]
    fn text(&self) -> Result<String> {
        self.href()
    }

    #[qjs(rename = "toJSON")]
    fn json(&self) -> Result<String> {
        self.href()
    }
}

impl UrlSearchParams<'_> {
    fn pairs(&self) -> Result<Vec<(String, String)>> {
        Ok(self
            .url
            .borrow()
            .address
            .parse()?
            .query_pairs()
            .into_owned()
            .collect())
    }

    fn set_pairs(&self, pairs: &[(String, String)]) -> Result<()> {
        self.change(|url| match pairs {
            [] => url.set_query(None),
            pairs => drop(url.query_pairs_mut().clear().extend_pairs(pairs)),
        })
    }

    fn change<R>(&self, change: impl FnOnce(&mut url::Url) -> R) -> Result<()> {
        self.url.borrow().address.change(change)
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl<'js> UrlSearchParams<'js> {
    #[qjs(constructor)]
    fn new(ctx: Ctx<'js>, init: Opt<Value<'js>>) -> Result<Self> {
        // Parameters without a URL get a placeholder address that scripts cannot see.
        let address = Address::new(&ctx, &parse(&ctx, "x:/", None)?)?;
        let params = Self {
            url: Class::instance(ctx, Url { address })?,
        };
        match init.0 {
            None => {}
            Some(init) if init.is_undefined() || init.is_null() => {}
            Some(init) => match init.as_object() {
                Some(object) => params.set_pairs(&pairs_of(object)?)?,
                None => {
                    let text: Coerced<String> = init.get()?;
                    let query = text.strip_prefix('?').unwrap_or(&text);
                    let query = Some(query).filter(|query| !query.is_empty());
                    params.change(|url| url.set_query(query))?;
                }
            },
        }
        Ok(params)
    }

    #[qjs(get)]
    fn size(&self) -> Result<usize> {
        Ok(self.pairs()?.len())
    }

    fn append(&self, name: Coerced<String>, value: Coerced<String>) -> Result<()> {
        self.change(|url| {
            url.query_pairs_mut().append_pair(&name, &value);
        })
    }

    fn delete(&self, name: Coerced<String>) -> Result<()> {
        let mut pairs = self.pairs()?;
        pairs.retain(|(known, _)| *known != name.0);
        self.set_pairs(&pairs)
    }

    fn get(&self, ctx: Ctx<'js>, name: Coerced<String>) -> Result<Value<'js>> {
        match self.get_all(name)?.into_iter().next() {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_null(ctx)),
        }
    }

    fn get_all(&self, name: Coerced<String>) -> Result<Vec<String>> {
        let pairs = self.pairs()?.into_iter().filter(|(known, _)| *known == name.0);
        Ok(pairs.map(|(_, value)| value).collect())
    }

    fn has(&self, name: Coerced<String>) -> Result<bool> {
        Ok(self.pairs()?.iter().any(|(known, _)| *known == name.0))
    }

    fn set(&self, name: Coerced<String>, value: Coerced<String>) -> Result<()> {
        let mut pairs = self.pairs()?;
        match pairs.iter().position(|(known, _)| *known == name.0) {
            Some(first) => {
                pairs[first].1 = value.0;
                let mut position = 0;
                pairs.retain(|(known, _)| {
                    position += 1;
                    position - 1 <= first || *known != name.0
                });
            }
            None => pairs.push((name.0, value.0)),
        }
        self.set_pairs(&pairs)
    }

    fn sort(&self) -> Result<()> {
        let mut pairs = self.pairs()?;
        pairs.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
        self.set_pairs(&pairs)
    }

    fn for_each(&self, callback: Function<'js>) -> Result<()> {
        self.pairs()?
            .into_iter()
            .try_for_each(|(name, value)| callback.call((value, name)))
    }

    fn entries(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let entries = Array::new(ctx.clone())?;
        for (index, (name, value)) in self.pairs()?.into_iter().enumerate() {
            entries.set(index, vec![name, value])?;
        }
        iterator(&ctx, entries)
    }

    fn keys(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let keys = Array::new(ctx.clone())?;
        for (index, (name, _)) in self.pairs()?.into_iter().enumerate() {
            keys.set(index, name)?;
        }
        iterator(&ctx, keys)
    }

    fn values(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let values = Array::new(ctx.clone())?;
        for (index, (_, value)) in self.pairs()?.into_iter().enumerate() {
            values.set(index, value)?;
        }
        iterator(&ctx, values)
    }

    #[qjs(rename = "toString")]
    fn text(&self) -> Result<String> {
        Ok(url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.pairs()?)
            .finish())
    }
}

/// Pairs of an array of pairs, or of other parameters, or the properties of an object.
fn pairs_of(object: &Object<'_>) -> Result<Vec<(String, String)>> {
    if let Some(params) = Class::<UrlSearchParams<'_>>::from_object(object) {
        return params.borrow().pairs();
    }
    if let Some(array) = object.as_array() {
        let pair = |pair: Result<Array<'_>>| {
            let pair = pair?;
            Ok((
                pair.get::<Coerced<String>>(0)?.0,
                pair.get::<Coerced<String>>(1)?.0,
            ))
        };
        return items::<Array<'_>>(array)?.map(pair).collect();
    }
    let properties = object.props::<String, Coerced<String>>();
    properties
        .map(|property| property.map(|(name, value)| (name, value.0)))
        .collect()
}

fn iterator<'js>(ctx: &Ctx<'js>, array: Array<'js>) -> Result<Value<'js>> {
    let symbols: Object<'js> = ctx.globals().get("Symbol")?;
    let name: Value<'js> = symbols.get("iterator")?;
    let make: Function<'js> = array.as_object().get(name)?;
    make.call((This(array),))
}
