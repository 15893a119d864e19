//! Requests as functions of the processor see and change them: Artillery's `requestParams` and its answers.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc, time::Duration};

use plimsoll_clients::http::{Method, Request as Wire, Response, Url};
use serde_json::{Map, Value};

use super::{Body, Defaults, Guard, Request};
use crate::artillery::{
    caller::Caller,
    failure::Failure,
    processor::{self, Argument},
    template::{JsonTemplate, Template},
    variables::{Variables, is_true, text_of},
};

/// A request that functions have changed, and their view of it.
pub(super) struct Adapted {
    pub(super) request: Request,
    pub(super) parameters: Value,
}

impl Request {
    /// Whether this user sends it now.
    pub(super) async fn takes_place(
        &self,
        caller: Option<&Caller>,
        variables: &RefCell<Variables>,
    ) -> Result<bool, Failure> {
        if !self.is_due() {
            return Ok(false);
        }
        match (&self.guard, caller) {
            (Some(Guard::Condition(condition)), _) => {
                let variables = variables.borrow();
                Ok(condition.holds(&|name| variables.get_path(name)))
            }
            (Some(Guard::Function(name)), Some(caller)) => {
                let returned = caller.call(name, vec![Argument::Variables], variables).await?;
                Ok(returned.is_true)
            }
            _ => Ok(true),
        }
    }

    /// Lets functions change the request before its templates are replaced, so that these see the changes.
    pub(super) async fn adapt(
        &self,
        defaults: &Defaults,
        caller: &Caller,
        variables: &RefCell<Variables>,
    ) -> Result<Adapted, Failure> {
        let before = self.parameters(defaults);
        let mut parameters = before.clone();
        for name in &self.hooks.before {
            let arguments = vec![
                Argument::Parameters(parameters),
                Argument::Context,
                Argument::Events,
                Argument::Next,
            ];
            let returned = caller.call(name, arguments, variables).await?;
            parameters = returned.parameters.unwrap_or_default();
        }
        Ok(Adapted {
            request: self.changed(&before, &parameters),
            parameters,
        })
    }

    /// The initial `requestParams` for a function: the request from the file, with its templates.
    fn parameters(&self, defaults: &Defaults) -> Value {
        let mut parameters = match &self.written {
            Value::Object(fields) => fields.clone(),
            _ => Map::new(),
        };
        let url = parameters.get("url").map(text_of).unwrap_or_default();
        let url = if url.starts_with('/') {
            format!("{}{url}", defaults.target.trim_end_matches('/'))
        } else {
            url
        };
        parameters.extend([
            ("url".to_owned(), url.into()),
            ("method".to_owned(), self.method.as_str().into()),
            ("timeout".to_owned(), defaults.timeout.as_secs_f64().into()),
            ("uuid".to_owned(), crate::artillery::program::uuid().into()),
        ]);
        Value::Object(parameters)
    }

    /// The request with all differences between `before` and `after`.
    fn changed(&self, before: &Value, after: &Value) -> Self {
        let changed = |key: &str| {
            let value = after.get(key).unwrap_or(&Value::Null);
            (value != before.get(key).unwrap_or(&Value::Null)).then_some(value)
        };
        let mut request = self.clone();
        if let Some(url) = changed("uri").or_else(|| changed("url")) {
            request.url = template(url);
        }
        if let Some(method) = changed("method").map(text_of)
            && let Ok(method) = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
        {
            request.method = method;
        }
        if let Some(headers) = changed("headers") {
            request.headers = templates(headers);
        }
        if let Some(cookies) = changed("cookie") {
            request.cookies = templates(cookies);
        }
        if let Some(query) = changed("qs") {
            request.query = values(query);
        }
        if ["json", "body", "form"]
            .into_iter()
            .any(|key| changed(key).is_some())
        {
            request.body = Body::of_parameters(after);
        }
        if let Some(auth) = changed("auth") {
            let part = |name| auth.get(name).map(template);
            request.credentials = part("user").zip(part("pass"));
        }
        if let Some(follows) = changed("followRedirect") {
            request.follows_redirects = is_true(follows);
        }
        if let Some(accepts) = changed("gzip") {
            request.accepts_codings = is_true(accepts);
        }
        if let Some(secs) = changed("timeout").and_then(Value::as_f64) {
            request.timeout = Duration::try_from_secs_f64(secs).ok();
        }
        request
    }

    /// Shows the answer to functions.
    pub(super) async fn show_answer(
        &self,
        caller: &Caller,
        (parameters, response): (Value, processor::Response),
        variables: &RefCell<Variables>,
    ) -> Result<(), Failure> {
        let (mut parameters, response) = (parameters, Arc::new(response));
        for name in &self.hooks.after {
            let arguments = vec![
                Argument::Parameters(parameters),
                Argument::Response(Arc::clone(&response)),
                Argument::Context,
                Argument::Events,
                Argument::Next,
            ];
            let returned = caller.call(name, arguments, variables).await?;
            parameters = returned.parameters.unwrap_or_default();
        }
        Ok(())
    }

    /// Reports a failure to functions. Their own failures are ignored.
    pub(super) async fn show_failure(
        &self,
        caller: &Caller,
        (parameters, failure): (Value, &Failure),
        variables: &RefCell<Variables>,
    ) {
        for name in &self.hooks.on_error {
            let arguments = vec![
                Argument::Error(failure.text().to_owned()),
                Argument::Parameters(parameters.clone()),
                Argument::Context,
                Argument::Events,
                Argument::Next,
            ];
            let _of_no_consequence = caller.call(name, arguments, variables).await;
        }
    }
}

impl Body {
    /// In the order in which Artillery looks for one.
    fn of_parameters(parameters: &Value) -> Self {
        let part = |key| parameters.get(key).filter(|value| is_true(value));
        if let Some(json) = part("json") {
            return Self::Json(json_template(json));
        }
        match (part("body"), part("form")) {
            (Some(body), _) => Self::Text(template(body)),
            (None, Some(form)) => Self::Form(values(form)),
            (None, None) => Self::Nothing,
        }
    }
}

/// The `requestParams` after the functions, with the sent values.
pub(super) fn sent(parameters: Value, wire: &Wire) -> Value {
    let Value::Object(mut parameters) = parameters else {
        return parameters;
    };
    let headers = wire.headers.iter();
    let headers: Map<_, _> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())))
        .collect();
    parameters.insert("url".to_owned(), wire.url.as_str().into());
    parameters.insert("headers".to_owned(), headers.into());
    if parameters.get("json").is_some_and(is_true) {
        let json = serde_json::from_slice(&wire.body).unwrap_or_default();
        parameters.insert("json".to_owned(), json);
    } else if parameters.get("body").is_some_and(is_true) {
        let body = String::from_utf8_lossy(&wire.body);
        parameters.insert("body".to_owned(), body.into());
    }
    Value::Object(parameters)
}

/// An answer for functions.
pub(super) fn answer(url: &Url, response: &Response) -> processor::Response {
    let mut headers = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in response.headers.iter() {
        let value = String::from_utf8_lossy(value).into_owned();
        headers.entry(name.to_ascii_lowercase()).or_default().push(value);
    }
    processor::Response {
        status: response.status,
        reason: response.reason.clone().into_owned(),
        url: url.as_str().to_owned(),
        headers,
        body: String::from_utf8_lossy(&response.body).into_owned(),
    }
}

/// Values set by a function may contain templates. Text without valid template syntax is used unchanged.
fn template(value: &Value) -> Template {
    let text = text_of(value);
    Template::parse(&text).unwrap_or_else(|_| Template::constant_of(&text))
}

fn json_template(value: &Value) -> JsonTemplate {
    JsonTemplate::parse(value).unwrap_or_else(|_| JsonTemplate::Constant(value.clone()))
}

fn templates(value: &Value) -> Vec<(String, Template)> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(name, value)| (name.clone(), template(value)))
        .collect()
}

fn values(value: &Value) -> Vec<(String, JsonTemplate)> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(name, value)| (name.clone(), json_template(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(written: Value) -> Request {
        Request {
            method: Method::GET,
            url: template(&written["url"]),
            name: None,
            endpoint: None,
            headers: templates(&written["headers"]),
            query: Vec::new(),
            cookies: Vec::new(),
            credentials: None,
            body: Body::of_parameters(&written),
            follows_redirects: true,
            max_redirects: None,
            offers_http2: false,
            allows_get_body: true,
            accepts_codings: false,
            wanted: crate::artillery::flow::Wanted::default(),
            expectations: Vec::new(),
            guard: None,
            probability: None,
            timeout: None,
            hooks: super::super::RequestHooks::default(),
            written,
        }
    }

    #[test]
    fn what_functions_change_is_sent() {
        let defaults = Defaults {
            target: "http://h".to_owned(),
            timeout: Duration::from_secs(10),
            ..Defaults::default()
        };
        let variables = Variables::new(Arc::default());
        let check = |change: &dyn Fn(&mut Value), expected: Value| {
            let request = request(json!({"url": "/a", "headers": {"x": "{{ $env.X }}1"}, "json": {"b": 1}}));
            let before = request.parameters(&defaults);
            let mut after = before.clone();
            change(&mut after);
            let wire = request
                .changed(&before, &after)
                .for_user(&defaults, &variables)
                .unwrap();
            let headers: Map<_, _> = wire
                .headers
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            let found = json!({
                "url": wire.url.as_str(), "method": wire.method.as_str(), "headers": headers,
                "body": String::from_utf8(wire.body).unwrap(), "secs": wire.timeout.as_secs(),
            });
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(found[key], *value, "{found}");
            }
        };
        let kind = "application/json";
        check(
            &|_| {},
            json!({"url": "http://h/a", "method": "GET", "body": r#"{"b":1}"#, "secs": 10,
            "headers": {"x": "undefined1", "content-type": kind}}),
        );
        check(
            &|it| it["url"] = json!("http://h/{{ $randomNumber(7, 7) }}"),
            json!({"url": "http://h/7"}),
        );
        check(&|it| it["uri"] = json!("/u"), json!({"url": "http://h/u"}));
        check(
            &|it| it["qs"] = json!({"q": [1, 2]}),
            json!({"url": "http://h/a?q=1&q=2"}),
        );
        check(&|it| it["method"] = json!("put"), json!({"method": "PUT"}));
        check(
            &|it| it["headers"]["y"] = json!(2),
            json!({"headers": {"x": "undefined1", "y": "2", "content-type": kind}}),
        );
        check(&|it| it["json"] = json!([2]), json!({"body": "[2]"}));
        check(
            &|it| {
                it["json"] = json!(null);
                it["body"] = json!("{{");
            },
            json!({"body": "{{", "headers": {"x": "undefined1"}}),
        );
        check(
            &|it| {
                it["json"] = json!(null);
                it["form"] = json!({"a": "b c"});
            },
            json!({"body": "a=b+c"}),
        );
        check(&|it| it["timeout"] = json!(2), json!({"secs": 2}));
    }
}
