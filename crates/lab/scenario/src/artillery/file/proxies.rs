//! Proxies that the environment names, as in Artillery's engine `http`: HTTP_PROXY for all requests, HTTPS_PROXY for those
//! over TLS.

use plimsoll_clients::dial::{Proxies, Proxy};

use super::reader::Reader;
use crate::document::Part;

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
