//! Proxies. As in Artillery, requests go through those that the environment names, HTTP_PROXY for all and HTTPS_PROXY for
//! those over TLS, and WebSockets through the `proxy` of `config.ws` or of `connect`.

use std::{collections::BTreeMap, sync::Arc};

use plimsoll_clients::dial::{Proxies, Proxy, ProxyError};
use serde_json::Value;

use super::{config::is_map, reader::Reader};
use crate::{artillery::keys, document::Part};

/// Names that other programs know; Artillery uses the ones in capital letters only.
const OTHER_NAMES: [&str; 2] = ["http_proxy", "https_proxy"];

impl<'a> Reader<'a> {
    /// The proxies of the environment. Mistakes are recorded at `part`.
    pub(super) fn proxies(&self, part: &Part<'a>) -> Proxies {
        let [http, https] = ["HTTP_PROXY", "HTTPS_PROXY"].map(|name| self.proxy(name, part));
        for name in OTHER_NAMES {
            if self.is_set(name) && !self.is_set(&name.to_ascii_uppercase()) {
                self.warn_of(format!(
                    "the environment's {name} is not used, as in Artillery; write it in capital letters"
                ));
            }
        }
        let https = https.or_else(|| http.clone());
        Proxies::tunnels(http, https)
    }

    /// The `proxy` of `config.ws`, or of a `connect`.
    pub(super) fn websocket_proxy(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Option<Arc<Proxy>> {
        if !is_map(part) {
            // A URL in its place may hold a password, so the value is not shown.
            part.mistake("expected a map, for example { url: http://gateway.example:3128 }");
            return None;
        }
        let mut fields = part.fields_of(&keys::PROXY)?;
        let url = fields.require("url", EXPECTED);
        let credentials = fields.get("auth");
        fields.finish();
        let url = url?;
        let mut proxy = read_proxy(&url, &self.config_text(&url, variables)?)?;
        if let Some(part) = credentials {
            let credentials = self.config_text(&part, variables)?;
            let Some((user, password)) = credentials.split_once(':') else {
                // The value is a secret.
                part.mistake("expected user:password");
                return None;
            };
            proxy = proxy.with_password(user, password);
        }
        self.warn(
            &url,
            "connections go through this proxy, so its time is part of all figures",
        );
        Some(Arc::new(proxy))
    }

    fn is_set(&self, name: &str) -> bool {
        let value = self.surroundings.system.get(name);
        value.is_some_and(|value| !value.is_empty())
    }

    fn proxy(&self, name: &str, part: &Part<'a>) -> Option<Proxy> {
        let text = self
            .surroundings
            .system
            .get(name)
            .filter(|text| !text.is_empty())?;
        // Unlike other programs, Artillery wants the scheme.
        let proxy = text.contains("://").then(|| text.parse().ok()).flatten();
        match &proxy {
            // The value may hold a password.
            None => part.mistake(format!(
                "the environment's {name} is not a proxy; expected something like http://gateway.example:3128, or unset it"
            )),
            Some(_) => self.warn_of(format!(
                "requests go through the proxy of the environment's {name}, so its time is part of all figures"
            )),
        }
        proxy
    }
}

/// The value of a `url`.
const EXPECTED: &str = "the URL of a proxy, for example http://gateway.example:3128";

/// A proxy by its URL. Unlike other programs, Artillery wants the scheme.
fn read_proxy(part: &Part<'_>, url: &str) -> Option<Proxy> {
    if !url.contains("://") {
        // Without a scheme the text may still hold a password.
        part.mistake(format!("expected {EXPECTED}"));
        return None;
    }
    url.parse()
        .inspect_err(|error: &ProxyError| part.mistake(error.to_string()))
        .ok()
}
