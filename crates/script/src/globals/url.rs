//! `URL` and `URLSearchParams` (WHATWG URL).

use std::{cell::RefCell, rc::Rc};

use rquickjs::{
    Array, Class, Coerced, Ctx, Exception, Function, IntoJs as _, JsLifetime, Object, Result, Value,
    class::Trace,
    function::{Opt, This},
};

/// Installs both.
pub(super) fn install(ctx: &Ctx<'_>, globals: &Object<'_>) -> Result<()> {
    Class::<Url>::define(globals)?;
    Class::<UrlSearchParams>::define(globals)?;
    if let Some(prototype) = Class::<UrlSearchParams>::prototype(ctx)? {
        let symbols: Object<'_> = ctx.globals().get("Symbol")?;
        let iterator: Value<'_> = symbols.get("iterator")?;
        let entries: Value<'_> = prototype.get("entries")?;
        prototype.set(iterator, entries)?;
    }
    Ok(())
}

/// An address; its parameters share it.
type Shared = Rc<RefCell<url::Url>>;

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "URL")]
struct Url {
    #[qjs(skip_trace)]
    url: Shared,
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "URLSearchParams")]
struct UrlSearchParams {
    #[qjs(skip_trace)]
    url: Shared,
}

/// A part of a URL that was set to what it cannot be stays as it is (WHATWG URL, API).
fn keep<T>(_unchanged: T) {}

#[rquickjs::methods(rename_all = "camelCase")]
impl Url {
    #[qjs(constructor)]
    fn new(ctx: Ctx<'_>, url: Coerced<String>, base: Opt<Coerced<String>>) -> Result<Self> {
        let parsed = match &base.0 {
            Some(base) => url::Url::parse(base).and_then(|base| base.join(&url)),
            None => url::Url::parse(&url),
        };
        let url = parsed.map_err(|error| {
            let text = format!(
                "`{}` is no URL ({error}); expected for example https://example.com/path?a=1",
                url.0
            );
            Exception::throw_type(&ctx, &text)
        })?;
        let url = Rc::new(RefCell::new(url));
        Ok(Self { url })
    }

    #[qjs(get)]
    fn href(&self) -> String {
        self.url.borrow().to_string()
    }

    #[qjs(get)]
    fn origin(&self) -> String {
        self.url.borrow().origin().ascii_serialization()
    }

    #[qjs(get, rename = "protocol")]
    fn protocol(&self) -> String {
        url::quirks::protocol(&self.url.borrow()).to_owned()
    }

    #[qjs(set, rename = "protocol")]
    fn set_protocol(&self, value: String) {
        keep(url::quirks::set_protocol(&mut self.url.borrow_mut(), &value));
    }

    #[qjs(get)]
    fn username(&self) -> String {
        self.url.borrow().username().to_owned()
    }

    #[qjs(get)]
    fn password(&self) -> String {
        self.url.borrow().password().unwrap_or_default().to_owned()
    }

    #[qjs(get, rename = "host")]
    fn host(&self) -> String {
        url::quirks::host(&self.url.borrow()).to_owned()
    }

    #[qjs(set, rename = "host")]
    fn set_host(&self, value: String) {
        keep(url::quirks::set_host(&mut self.url.borrow_mut(), &value));
    }

    #[qjs(get)]
    fn hostname(&self) -> String {
        url::quirks::hostname(&self.url.borrow()).to_owned()
    }

    #[qjs(get)]
    fn port(&self) -> String {
        url::quirks::port(&self.url.borrow()).to_owned()
    }

    #[qjs(get, rename = "pathname")]
    fn pathname(&self) -> String {
        self.url.borrow().path().to_owned()
    }

    #[qjs(set, rename = "pathname")]
    fn set_pathname(&self, value: String) {
        self.url.borrow_mut().set_path(&value);
    }

    #[qjs(get, rename = "search")]
    fn search(&self) -> String {
        url::quirks::search(&self.url.borrow()).to_owned()
    }

    #[qjs(set, rename = "search")]
    fn set_search(&self, value: String) {
        url::quirks::set_search(&mut self.url.borrow_mut(), &value);
    }

    #[qjs(get, rename = "hash")]
    fn hash(&self) -> String {
        url::quirks::hash(&self.url.borrow()).to_owned()
    }

    #[qjs(set, rename = "hash")]
    fn set_hash(&self, value: String) {
        url::quirks::set_hash(&mut self.url.borrow_mut(), &value);
    }

    #[qjs(get)]
    fn search_params(&self) -> UrlSearchParams {
        UrlSearchParams {
            url: Rc::clone(&self.url),
        }
    }

    #[qjs(rename = "toString")]
    fn text(&self) -> String {
        self.href()
    }

    #[qjs(rename = "toJSON")]
    fn json(&self) -> String {
        self.href()
    }
}

impl UrlSearchParams {
    fn pairs(&self) -> Vec<(String, String)> {
        self.url.borrow().query_pairs().into_owned().collect()
    }

    fn set_pairs(&self, pairs: &[(String, String)]) {
        let mut url = self.url.borrow_mut();
        match pairs {
            [] => url.set_query(None),
            pairs => drop(url.query_pairs_mut().clear().extend_pairs(pairs)),
        }
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl UrlSearchParams {
    #[qjs(constructor)]
    fn new<'js>(ctx: Ctx<'js>, init: Opt<Value<'js>>) -> Result<Self> {
        // Parameters on their own are those of an address that nobody sees.
        let url =
            url::Url::parse("x:/").map_err(|error| Exception::throw_internal(&ctx, &error.to_string()))?;
        let params = Self {
            url: Rc::new(RefCell::new(url)),
        };
        match init.0 {
            None => {}
            Some(init) if init.is_undefined() || init.is_null() => {}
            Some(init) => match init.as_object() {
                Some(object) => params.set_pairs(&pairs_of(object)?),
                None => {
                    let text: Coerced<String> = init.get()?;
                    let query = text.strip_prefix('?').unwrap_or(&text);
                    params
                        .url
                        .borrow_mut()
                        .set_query(Some(query).filter(|query| !query.is_empty()));
                }
            },
        }
        Ok(params)
    }

    #[qjs(get)]
    fn size(&self) -> usize {
        self.pairs().len()
    }

    fn append(&self, name: Coerced<String>, value: Coerced<String>) {
        self.url.borrow_mut().query_pairs_mut().append_pair(&name, &value);
    }

    fn delete(&self, name: Coerced<String>) {
        let mut pairs = self.pairs();
        pairs.retain(|(known, _)| *known != name.0);
        self.set_pairs(&pairs);
    }

    fn get<'js>(&self, ctx: Ctx<'js>, name: Coerced<String>) -> Result<Value<'js>> {
        match self.get_all(name).into_iter().next() {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_null(ctx)),
        }
    }

    fn get_all(&self, name: Coerced<String>) -> Vec<String> {
        let pairs = self.pairs().into_iter().filter(|(known, _)| *known == name.0);
        pairs.map(|(_, value)| value).collect()
    }

    fn has(&self, name: Coerced<String>) -> bool {
        self.pairs().iter().any(|(known, _)| *known == name.0)
    }

    fn set(&self, name: Coerced<String>, value: Coerced<String>) {
        let mut pairs = self.pairs();
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
        self.set_pairs(&pairs);
    }

    fn sort(&self) {
        let mut pairs = self.pairs();
        pairs.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
        self.set_pairs(&pairs);
    }

    fn for_each<'js>(&self, callback: Function<'js>) -> Result<()> {
        self.pairs()
            .into_iter()
            .try_for_each(|(name, value)| callback.call((value, name)))
    }

    fn entries<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let entries = Array::new(ctx.clone())?;
        for (index, (name, value)) in self.pairs().into_iter().enumerate() {
            entries.set(index, vec![name, value])?;
        }
        iterator(&ctx, entries)
    }

    fn keys<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let keys = Array::new(ctx.clone())?;
        for (index, (name, _)) in self.pairs().into_iter().enumerate() {
            keys.set(index, name)?;
        }
        iterator(&ctx, keys)
    }

    fn values<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let values = Array::new(ctx.clone())?;
        for (index, (_, value)) in self.pairs().into_iter().enumerate() {
            values.set(index, value)?;
        }
        iterator(&ctx, values)
    }

    #[qjs(rename = "toString")]
    fn text(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.pairs())
            .finish()
    }
}

/// Pairs of an array of pairs, or of other parameters, or the properties of an object.
fn pairs_of(object: &Object<'_>) -> Result<Vec<(String, String)>> {
    if let Some(params) = Class::<UrlSearchParams>::from_object(object) {
        return Ok(params.borrow().pairs());
    }
    if let Some(array) = object.as_array() {
        let pair = |pair: Result<Array<'_>>| {
            let pair = pair?;
            Ok((
                pair.get::<Coerced<String>>(0)?.0,
                pair.get::<Coerced<String>>(1)?.0,
            ))
        };
        return array.iter::<Array<'_>>().map(pair).collect();
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
