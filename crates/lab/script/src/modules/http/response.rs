//! `Response`: the response for a script. Its parts are made on access, because most scripts read only the status.

use std::rc::Rc;

use plimsoll_clients::http::{Exchange, Url};
use rquickjs::{Atom, JsLifetime, Value, class::Trace};

use super::call::{BodyType, Call, Unusable};

mod fields;
mod methods;
mod own;

/// The response to a request, or the reason why there is no response.
#[derive(Trace, JsLifetime)]
pub(super) struct Response<'js> {
    #[qjs(skip_trace)]
    facts: Facts,
    body: Option<Value<'js>>,
    json: Option<Value<'js>>,
    page: Option<Value<'js>>,
    headers: Option<Value<'js>>,
    cookies: Option<Value<'js>>,
    timings: Option<Value<'js>>,
    request: Option<Value<'js>>,
    /// The properties that the script has assigned or deleted.
    #[qjs(skip_trace)]
    changed: Vec<Change<'js>>,
}

/// A property that the script has assigned or deleted.
#[derive(JsLifetime)]
struct Change<'js> {
    name: Atom<'js>,
    /// Whether it was assigned: then the object itself has it.
    exists: bool,
}

/// The data from which the parts are made.
#[derive(Clone)]
enum Facts {
    /// A request was made.
    Made(Rc<(Call, Exchange)>),
    /// The request could not be made.
    Refused(Rc<Unusable>),
}

impl Facts {
    fn exchange(&self) -> Option<&Exchange> {
        match self {
            Self::Made(made) => Some(&made.1),
            Self::Refused(_) => None,
        }
    }

    fn response(&self) -> Option<&plimsoll_clients::http::Response> {
        self.exchange()?.outcome.as_ref().ok()
    }

    /// The base of relative addresses in the body.
    fn base(&self) -> Option<Url> {
        self.exchange().map(|exchange| exchange.url.clone())
    }

    fn body_type(&self) -> BodyType {
        match self {
            Self::Made(made) => made.0.body,
            Self::Refused(_) => BodyType::Nothing,
        }
    }

    /// The text and k6's number.
    fn error(&self) -> (String, u16) {
        match self {
            Self::Refused(unusable) => (unusable.problem.text.clone(), unusable.problem.code),
            Self::Made(made) => match &made.1.outcome {
                Err(error) => (error.words().into_owned(), error.code()),
                Ok(response) if response.status >= 400 => (String::new(), 1000 + response.status),
                Ok(_) => (String::new(), 0),
            },
        }
    }
}

impl Response<'_> {
    /// The response of a request that was made.
    pub(super) fn new(call: Call, exchange: Exchange) -> Self {
        Self::of(Facts::Made(Rc::new((call, exchange))))
    }

    /// The response of a request that could not be made.
    pub(super) fn failed(unusable: Unusable) -> Self {
        Self::of(Facts::Refused(Rc::new(unusable)))
    }

    fn of(facts: Facts) -> Self {
        Self {
            facts,
            body: None,
            json: None,
            page: None,
            headers: None,
            cookies: None,
            timings: None,
            request: None,
            changed: Vec::new(),
        }
    }
}
