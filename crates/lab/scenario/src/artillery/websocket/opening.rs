//! From a file's WebSocket settings to the open connection.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::{Dialer, Proxy, Traffic},
    target::Target,
    tls::Tls,
    websocket::{Connection, Options, Timings, connect},
};

use serde_json::{Map, Value, json};

use crate::artillery::{
    caller::Caller,
    failure::Failure,
    flow::Connect,
    processor::{Argument, FunctionName},
    template::Template,
    variables::{Variables, text_of},
};

/// The largest accepted message: far beyond what a load test exchanges, and small enough that a server's mistake does
/// not take the machine down. A larger one ends the connection with code 1009.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// What holds for the WebSockets of all users.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    /// The default URL of a scenario.
    pub(crate) target: Template,
    /// The configuration's headers and sub-protocols.
    pub(crate) common: Connect,
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) tls: Arc<Tls>,
    /// From before the look-up of the name until the upgrade is accepted.
    pub(crate) deadline: Duration,
}

impl Opening {
    /// Connects for one user. Bytes are added to `traffic`.
    pub(crate) async fn open(
        &self,
        own: Option<&Connect>,
        variables: &Variables,
        traffic: &Rc<Traffic>,
    ) -> Result<(Connection, Timings), Failure> {
        let options = self.options(own, variables).await?;
        Ok(connect(&options, traffic).await?)
    }

    /// Lets a function of the processor change the target, sub-protocols and headers of the configuration.
    pub(crate) async fn adapt(
        &self,
        function: &FunctionName,
        caller: &Caller,
        variables: &RefCell<Variables>,
    ) -> Result<Self, Failure> {
        let arguments = self.arguments(&variables.borrow());
        let arguments = vec![Argument::Parameters(arguments), Argument::Context, Argument::Next];
        let returned = caller.call(function, arguments, variables).await?;
        let changed = returned.parameters.unwrap_or_default();
        let text = |value: &Value| Template::constant_of(&text_of(value));
        let target = changed.get("target").unwrap_or(&Value::Null);
        let protocols = changed.get("subprotocols").and_then(Value::as_array);
        let headers = changed.pointer("/options/headers").and_then(Value::as_object);
        Ok(Self {
            target: text(target),
            common: Connect {
                headers: headers
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.clone(), text(value)))
                    .collect(),
                subprotocols: protocols.into_iter().flatten().map(text).collect(),
                proxy: self.common.proxy.clone(),
                ..Connect::default()
            },
            ..self.clone()
        })
    }

    /// Artillery's `wsArgs`.
    fn arguments(&self, variables: &Variables) -> Value {
        let Connect {
            headers,
            subprotocols,
            ..
        } = &self.common;
        let headers = headers.iter();
        let headers: Map<_, _> = headers
            .map(|(name, value)| (name.clone(), value.render(variables).into()))
            .collect();
        let protocols = subprotocols
            .iter()
            .map(|name| Value::from(name.render(variables)));
        json!({
            "target": self.target.render(variables),
            "subprotocols": protocols.collect::<Value>(),
            "options": { "headers": headers },
        })
    }

    async fn options(&self, own: Option<&Connect>, variables: &Variables) -> Result<Options, Failure> {
        let url = own.and_then(|own| own.target.as_ref()).unwrap_or(&self.target);
        let url = url.render(variables);
        let target = Target::parse(&as_websocket(&url)).map_err(|_| Failure::new("Invalid URL"))?;
        let proxy = self.proxy(own);
        let address = match proxy {
            Some(proxy) => self.dialer.locate(proxy.host(), proxy.port()).await,
            None => self.dialer.locate(&target.host(), target.port()).await,
        };
        let address = address.map_err(|error| Failure::from(&error))?;
        let mut options = Options::new(target, vec![address]);
        options.proxy = proxy.cloned();
        options.tls = Some(Arc::clone(&self.tls));
        options.max_message_bytes = MAX_MESSAGE_BYTES;
        options.deadline = self.deadline;
        for connect in [Some(&self.common), own].into_iter().flatten() {
            connect.apply(variables, &mut options);
        }
        Ok(options)
    }

    /// As in Artillery, a `connect` that is a map has its own proxy or none.
    fn proxy<'a>(&'a self, own: Option<&'a Connect>) -> Option<&'a Arc<Proxy>> {
        own.filter(|own| own.is_map)
            .unwrap_or(&self.common)
            .proxy
            .as_ref()
    }
}

impl Connect {
    fn apply(&self, variables: &Variables, options: &mut Options) {
        let protocols = self
            .subprotocols
            .iter()
            .map(|name| name.render(variables).into_owned());
        options.protocols.extend(protocols);
        for (name, value) in &self.headers {
            let value = value.render(variables).into_owned();
            match name.to_ascii_lowercase().as_str() {
                "host" => options.host = Some(value),
                "origin" => options.origin = Some(value),
                "sec-websocket-protocol" => {
                    options
                        .protocols
                        .extend(value.split(',').map(|name| name.trim().to_owned()));
                }
                _ => {
                    options
                        .headers
                        .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                    options.headers.push((name.clone(), value));
                }
            }
        }
    }
}

/// Replaces `http` by `ws` in a URL, like npm's `ws`.
fn as_websocket(url: &str) -> String {
    match url.split_once("://") {
        Some(("http", rest)) => format!("ws://{rest}"),
        Some(("https", rest)) => format!("wss://{rest}"),
        _ => url.to_owned(),
    }
}
