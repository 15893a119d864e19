//! `CookieJar`: the cookies of a virtual user, or a jar that the script created.

use std::{cell::RefCell, rc::Rc, time::SystemTime};

use plimsoll_clients::http::{Cookie, CookieJar, Url, parse_date};
use rquickjs::{
    Class, Coerced, Ctx, Exception, FromJs as _, JsLifetime, Object, Result, Value, class::Trace,
    function::Opt,
};

use super::session::Session;
use crate::{host::Host, modules::k6::is_truthy};

/// A jar in a script.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "CookieJar")]
pub(super) struct Jar {
    #[qjs(skip_trace)]
    pub(super) cookies: Rc<RefCell<CookieJar>>,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Jar {
    /// The cookies that a request for this URL gets: lists of values by name.
    #[qjs(rename = "cookiesForURL")]
    fn cookies_for_url<'js>(&self, ctx: Ctx<'js>, url: String) -> Result<Object<'js>> {
        let url = parse(&ctx, &url)?;
        let jar = self.cookies.borrow();
        let found = Object::new(ctx.clone())?;
        for (name, value) in jar.matching(&url, SystemTime::now()) {
            let mut values: Vec<String> = found.get::<_, Option<_>>(name)?.unwrap_or_default();
            values.push(value.to_owned());
            found.set(name, values)?;
        }
        Ok(found)
    }

    /// Puts a cookie in, as if `url` had set it.
    fn set<'js>(
        &self,
        ctx: Ctx<'js>,
        url: String,
        name: String,
        value: Coerced<String>,
        options: Opt<Value<'js>>,
    ) -> Result<bool> {
        let url = parse(&ctx, &url)?;
        let mut cookie = Cookie::new(&name, &value.0);
        if let Some(options) = options.0.as_ref().and_then(Value::as_object) {
            take_options(&ctx, &mut cookie, options)?;
        }
        self.cookies.borrow_mut().store(&url, cookie, SystemTime::now());
        Ok(true)
    }

    /// Takes all cookies out that a request for this URL gets.
    fn clear(&self, ctx: Ctx<'_>, url: String) -> Result<()> {
        self.cookies.borrow_mut().remove(&parse(&ctx, &url)?, None);
        Ok(())
    }

    /// Takes those with this name out.
    fn delete(&self, ctx: Ctx<'_>, url: String, name: String) -> Result<()> {
        self.cookies.borrow_mut().remove(&parse(&ctx, &url)?, Some(&name));
        Ok(())
    }
}

/// `http.cookieJar()`: the jar of the virtual user.
pub(super) fn of_user(ctx: Ctx<'_>) -> Result<Class<'_, Jar>> {
    let session = Session::of(&ctx);
    session.enter(&ctx, &Host::of(&ctx), "http.cookieJar()")?;
    let cookies = Rc::clone(&session.jar);
    Class::instance(ctx, Jar { cookies })
}

/// `new http.CookieJar()`: an empty jar.
pub(super) fn create(ctx: Ctx<'_>) -> Result<Class<'_, Jar>> {
    let cookies = Rc::default();
    Class::instance(ctx, Jar { cookies })
}

fn take_options<'js>(ctx: &Ctx<'js>, cookie: &mut Cookie, options: &Object<'js>) -> Result<()> {
    for entry in options.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        let text = Coerced::<String>::from_js(ctx, value.clone())?.0;
        match name.as_str() {
            "domain" => cookie.domain = Some(text.trim_start_matches('.').to_ascii_lowercase()),
            "path" => cookie.path = Some(text),
            "max_age" => cookie.max_age = value.as_number().map(|seconds| seconds as i64),
            "secure" => cookie.secure = is_truthy(&value),
            "http_only" => cookie.http_only = is_truthy(&value),
            "expires" if !text.is_empty() => {
                let date = parse_date(&text).ok_or_else(|| {
                    let text = format!(
                        "{text:?} is not a date; expected something like Mon, 02 Jan 2026 15:04:05 GMT"
                    );
                    Exception::throw_type(ctx, &text)
                })?;
                cookie.expires = Some(date);
            }
            _ => {}
        }
    }
    Ok(())
}

fn parse(ctx: &Ctx<'_>, url: &str) -> Result<Url> {
    Url::parse(url).map_err(|error| {
        let url = plimsoll_redacted::url_with_query(url);
        let text = format!("invalid URL {url:?}: {error}; expected something like https://example.com/path");
        Exception::throw_type(ctx, &text)
    })
}
