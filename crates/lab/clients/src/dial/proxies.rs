//! Which connections go through a proxy: the variables `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, with the rules of
//! Go's programs, which k6's users know.

use std::{net::IpAddr, sync::Arc};

use super::{Network, Proxy, ProxyError};

/// The proxies of a run. The default has none.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    plain: Option<Arc<Proxy>>,
    secure: Option<Arc<Proxy>>,
    exceptions: Vec<Exception>,
    /// Whether even this machine is reached through the proxy.
    spares_nothing: bool,
    /// Whether connections without TLS are tunnels, too, instead of requests to the proxy.
    tunnels_plain: bool,
}

/// Hosts that are reached without the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    /// `*`.
    All,
    /// Addresses, and the port if only one is meant.
    Addresses(Network, Option<u16>),
    /// A name and the names below it.
    Name {
        /// In lower case, without a leading dot.
        name: String,
        /// Whether the name itself is meant, and not only those below it.
        includes_itself: bool,
        port: Option<u16>,
    },
}

/// A variable that names no usable proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct ProxiesError {
    variable: &'static str,
    problem: ProxyError,
}

impl Proxies {
    /// One proxy for all connections, those to this machine, too.
    pub fn always(proxy: Proxy) -> Self {
        let proxy = Some(Arc::new(proxy));
        Self {
            plain: proxy.clone(),
            secure: proxy,
            spares_nothing: true,
            ..Self::default()
        }
    }

    /// Proxies that make a tunnel for each connection, also for those without TLS and those to this machine.
    pub fn tunnels(plain: Option<Proxy>, secure: Option<Proxy>) -> Self {
        Self {
            plain: plain.map(Arc::new),
            secure: secure.map(Arc::new),
            spares_nothing: true,
            tunnels_plain: true,
            ..Self::default()
        }
    }

    /// Whether the proxy makes a tunnel for a connection (RFC 9110 §9.3.6), instead of getting its requests.
    pub fn tunnels_to(&self, is_tls: bool) -> bool {
        is_tls || self.tunnels_plain
    }

    /// Reads the variables, in capitals or small letters.
    ///
    /// # Errors
    /// The first variable whose proxy cannot be used.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, ProxiesError> {
        let either = |large: &str| {
            let value = get(large).filter(|value| !value.is_empty());
            value.or_else(|| get(&large.to_ascii_lowercase()).filter(|value| !value.is_empty()))
        };
        let proxy = |variable: &'static str| {
            let parsed = either(variable).map(str::parse::<Proxy>).transpose();
            let found = parsed.map_err(|problem| ProxiesError { variable, problem })?;
            Ok(found.map(Arc::new))
        };
        Ok(Self {
            plain: proxy("HTTP_PROXY")?,
            secure: proxy("HTTPS_PROXY")?,
            exceptions: either("NO_PROXY")
                .unwrap_or_default()
                .split(',')
                .filter_map(Exception::parse)
                .collect(),
            ..Self::default()
        })
    }

    /// Whether every connection is direct.
    pub fn is_empty(&self) -> bool {
        self.plain.is_none() && self.secure.is_none()
    }

    /// The proxy for a connection to `host` (without brackets); `None` for a direct one. This machine is always reached
    /// directly, unless there is one proxy for everything.
    pub fn choose(&self, is_tls: bool, host: &str, port: u16) -> Option<&Arc<Proxy>> {
        let proxy = if is_tls { &self.secure } else { &self.plain };
        let proxy = proxy.as_ref()?;
        if self.spares_nothing {
            return Some(proxy);
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        let is_here = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
        let is_exempt = || self.exceptions.iter().any(|it| it.matches(&host, ip, port));
        (!is_here && !is_exempt()).then_some(proxy)
    }
}

impl Exception {
    /// Reads an entry of `NO_PROXY`; `None` for one that means nothing, which Go ignores, too.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text == "*" {
            return Some(Self::All);
        }
        if let Ok(network) = text.parse::<Network>() {
            return Some(Self::Addresses(network, None));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (&*text, None),
        };
        let host = host.trim_matches(['[', ']']);
        if let Ok(network) = host.parse::<Network>() {
            return Some(Self::Addresses(network, port));
        }
        let host = host
            .strip_prefix('*')
            .filter(|rest| rest.starts_with('.'))
            .unwrap_or(host);
        let name = host.strip_prefix('.');
        let (name, includes_itself) = (name.unwrap_or(host), name.is_none());
        (!name.is_empty()).then(|| Self::Name {
            name: name.to_owned(),
            includes_itself,
            port,
        })
    }

    fn matches(&self, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
        let is_port = |own: &Option<u16>| own.is_none_or(|own| own == port);
        match self {
            Self::All => true,
            Self::Addresses(network, own) => ip.is_some_and(|ip| network.contains(ip)) && is_port(own),
            Self::Name {
                name,
                includes_itself,
                port: own,
            } => {
                let is_below = host
                    .strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.ends_with('.'));
                (is_below || (*includes_itself && host == name)) && is_port(own)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(variables: &[(&str, &str)], url: (bool, &str, u16)) -> String {
        let find = |name: &str| {
            let mut all = variables.iter();
            all.find(|(other, _)| *other == name).map(|(_, value)| *value)
        };
        match Proxies::from_variables(find) {
            Ok(proxies) => {
                let (is_tls, host, port) = url;
                let chosen = proxies.choose(is_tls, host, port);
                chosen.map_or_else(|| "direct".to_owned(), ToString::to_string)
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_scheme_decides_which_variable_is_used() {
        let both = [("HTTP_PROXY", "p:1"), ("https_proxy", "http://q:2")];
        assert_eq!(choice(&both, (false, "a.test", 80)), "p:1");
        assert_eq!(choice(&both, (true, "a.test", 443)), "q:2");
        assert_eq!(choice(&both[..1], (true, "a.test", 443)), "direct");
        assert_eq!(choice(&[("HTTP_PROXY", "")], (false, "a.test", 80)), "direct");
        let bad = [("HTTPS_PROXY", "socks5://p:1")];
        let error = choice(&bad, (true, "a.test", 443));
        assert!(error.starts_with("HTTPS_PROXY: \"socks5://p:1\": "), "{error}");
    }

    #[test]
    fn this_machine_is_reached_directly() {
        let proxy = [("HTTP_PROXY", "p:1")];
        for host in ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"] {
            assert_eq!(choice(&proxy, (false, host, 80)), "direct", "{host}");
        }
        let always = Proxies::always("p:1".parse().unwrap());
        assert!(always.choose(false, "127.0.0.1", 80).is_some());
        assert!(always.tunnels_to(true) && !always.tunnels_to(false));
        let tunnels = Proxies::tunnels(always.plain.as_deref().cloned(), None);
        assert!(tunnels.choose(false, "127.0.0.1", 80).is_some() && tunnels.tunnels_to(false));
        assert!(tunnels.choose(true, "127.0.0.1", 443).is_none());
    }

    #[test]
    fn exceptions_are_gos() {
        let check = |exceptions: &str, host: &str, is_exempt: bool| {
            let variables = [("HTTP_PROXY", "p:1"), ("NO_PROXY", exceptions)];
            let expected = if is_exempt { "direct" } else { "p:1" };
            assert_eq!(
                choice(&variables, (false, host, 8080)),
                expected,
                "{exceptions} {host}"
            );
        };
        check("*", "a.test", true);
        check("a.test", "a.test", true);
        check("a.test", "A.Test", true);
        check("a.test", "x.a.test", true);
        check("a.test", "xa.test", false);
        check(".a.test", "x.a.test", true);
        check(".a.test", "a.test", false);
        check("*.a.test", "x.a.test", true);
        check("*.a.test", "a.test", false);
        check("b.test, a.test:8080", "a.test", true);
        check("a.test:80", "a.test", false);
        check("10.0.0.0/8", "10.1.2.3", true);
        check("10.0.0.0/8", "11.1.2.3", false);
        check("10.1.2.3:8080", "10.1.2.3", true);
        check("10.1.2.3:80", "10.1.2.3", false);
        check("2001:db8::1", "2001:db8::1", true);
        check("[2001:db8::1]:8080", "2001:db8::1", true);
        check("a.test:x,,", "a.test", false);
    }
}
