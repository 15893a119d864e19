//! Options that say how connections are made (k6 spec §3.2), for the clients of all protocols.

use std::{
    collections::BTreeMap,
    str::FromStr,
    sync::Mutex,
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::{HostPattern, Overrides, Resolver, SourceAddresses},
    http::Settings,
    tls::{Believe, Identity, TlsOptions, TlsVersion, Versions},
};
use plimsoll_load::plan::{Options, parse_duration};
use serde_json::Value;

/// What all virtual users of a run make connections with.
#[derive(Debug)]
pub(crate) struct Network {
    /// Where to and under which rules, with which TLS; the other fields are for HTTP.
    pub(crate) settings: std::sync::Arc<Settings>,
    /// Where connections come from.
    pub(crate) sources: Option<SourceAddresses>,
    /// When requests may start (`rps`).
    #[cfg_attr(not(test), expect(dead_code, reason = "for requests over HTTP"))]
    pub(crate) pace: Option<Pace>,
}

/// Lets requests start one after the other, at most so many per second; shared by all workers.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Duration,
    next: Mutex<Option<Instant>>,
}

impl Network {
    /// Reads the options. `env` is `__ENV`.
    ///
    /// # Errors
    /// For people: the first option that cannot be used.
    pub(crate) fn new(options: &Options, env: &BTreeMap<String, String>) -> Result<Self, String> {
        let read = Read(options);
        let mut settings =
            Settings::new(read.tls()?).map_err(|error| format!("the options for TLS: {error}"))?;
        settings.dialer.overrides = read.overrides()?;
        settings.dialer.blocked_hosts = read.list("blockHostnames")?;
        settings.dialer.blocked_networks = read.list("blacklistIPs")?;
        settings.dialer.resolver = read.resolver()?;
        if let Some(user_agent) = read.text("userAgent") {
            settings.user_agent = user_agent.to_owned();
        }
        settings.reuse_connections = !read.is_on("noConnectionReuse");
        settings.max_idle = read.count("batch").unwrap_or(settings.max_idle);
        settings.max_idle_per_host = read.count("batchPerHost").unwrap_or(settings.max_idle_per_host);
        // Go's switch, which k6's users know.
        settings.http2 = !env
            .get("GODEBUG")
            .is_some_and(|debug| debug.contains("http2client=0"));
        let sources = read.text("localIPs").map(str::parse).transpose();
        Ok(Self {
            settings: settings.into(),
            sources: sources.map_err(|error| format!("the option `localIPs`: {error}"))?,
            pace: read.number("rps").and_then(Pace::new),
        })
    }
}

/// Options that were checked for their form already.
struct Read<'a>(&'a Options);

impl Read<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn is_on(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    fn count(&self, key: &str) -> Option<usize> {
        let number = self.0.get(key).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    }

    fn list<T: FromStr<Err: std::fmt::Display>>(&self, key: &str) -> Result<Vec<T>, String> {
        let items = self.0.get(key).and_then(Value::as_array).into_iter().flatten();
        let items = items.filter_map(Value::as_str).map(str::parse);
        let items: Result<_, _> = items.collect();
        items.map_err(|error| format!("the option `{key}`: {error}"))
    }

    fn overrides(&self) -> Result<Overrides, String> {
        let entries = self
            .0
            .get("hosts")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let entries = entries.filter_map(|(from, to)| Some((from.as_str(), to.as_str()?)));
        Overrides::parse(entries).map_err(|error| format!("the option `hosts`: {error}"))
    }

    /// An object, or a text such as `ttl=5m,select=random,policy=preferIPv4`.
    fn resolver(&self) -> Result<Resolver, String> {
        let mut resolver = Resolver::default();
        let fields: Vec<(String, String)> = match self.0.get("dns") {
            Some(Value::String(text)) => {
                let fields = text.split(',').filter_map(|field| field.split_once('='));
                fields
                    .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
                    .collect()
            }
            Some(Value::Object(fields)) => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                fields
                    .iter()
                    .map(|(name, value)| (name.clone(), text(value)))
                    .collect()
            }
            _ => return Ok(resolver),
        };
        let bad = |error: &dyn std::fmt::Display| format!("the option `dns`: {error}");
        for (name, value) in fields {
            match name.as_str() {
                "ttl" if value == "inf" => resolver.ttl = Duration::MAX,
                "ttl" => resolver.ttl = parse_duration(&value).map_err(|error| bad(&error))?,
                "select" => resolver.select = value.parse().map_err(|error| bad(&error))?,
                "policy" => resolver.policy = value.parse().map_err(|error| bad(&error))?,
                _ => {
                    return Err(bad(&format!(
                        "unknown field {name:?}; expected ttl, select or policy"
                    )));
                }
            }
        }
        Ok(resolver)
    }

    fn tls(&self) -> Result<TlsOptions, String> {
        Ok(TlsOptions {
            believe: if self.is_on("insecureSkipTLSVerify") {
                Believe::Anybody
            } else {
                Believe::System
            },
            versions: self.tls_versions()?,
            cipher_suites: self
                .0
                .get("tlsCipherSuites")
                .and_then(Value::as_array)
                .map(|names| {
                    let names = names.iter().filter_map(Value::as_str);
                    names.map(str::to_owned).collect()
                }),
            identities: self.tls_identities()?,
        })
    }

    /// A version, or an object with `min` and `max`.
    fn tls_versions(&self) -> Result<Versions, String> {
        let parse = |value: &Value| -> Result<TlsVersion, String> {
            let text = value.as_str().unwrap_or_default();
            text.parse()
                .map_err(|error| format!("the option `tlsVersion`: {error}"))
        };
        let mut versions = Versions::default();
        match self.0.get("tlsVersion") {
            Some(Value::Object(range)) => {
                if let Some(min) = range.get("min") {
                    versions.min = parse(min)?;
                }
                if let Some(max) = range.get("max") {
                    versions.max = parse(max)?;
                }
            }
            Some(value) if !value.is_null() => {
                versions.min = parse(value)?;
                versions.max = versions.min;
            }
            _ => {}
        }
        Ok(versions)
    }

    fn tls_identities(&self) -> Result<Vec<Identity>, String> {
        let entries = self
            .0
            .get("tlsAuth")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let identities = entries.map(|entry| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            if !text("password").is_empty() {
                return Err("the option `tlsAuth`: keys with a password are not supported; decrypt the key first, for \
                            example with `openssl pkey`"
                    .to_owned());
            }
            let domains = entry.get("domains").and_then(Value::as_array).into_iter().flatten();
            let domains: Result<Vec<HostPattern>, _> =
                domains.filter_map(Value::as_str).map(str::parse).collect();
            Ok(Identity {
                domains: domains.map_err(|error| format!("the option `tlsAuth`: {error}"))?,
                certificates: text("cert").to_owned(),
                key: text("key").to_owned(),
            })
        });
        identities.collect()
    }
}

impl Pace {
    /// So many per second; `None` for no limit.
    fn new(per_second: f64) -> Option<Self> {
        let period = Duration::try_from_secs_f64(1.0 / per_second).ok()?;
        (per_second > 0.0).then(|| Self {
            period,
            next: Mutex::default(),
        })
    }

    /// When the request that asks now may start.
    #[cfg_attr(not(test), expect(dead_code, reason = "for requests over HTTP"))]
    pub(crate) fn reserve(&self, now: Instant) -> Instant {
        let mut next = self
            .next
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let start = next.map_or(now, |next| next.max(now));
        *next = Some(start + self.period);
        start
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn network(options: &Value) -> Result<Network, String> {
        Network::new(&Options::from_json(options).unwrap().options, &BTreeMap::new())
    }

    #[test]
    fn options_say_how_connections_are_made() {
        let network = network(&json!({
            "hosts": { "*.test": "127.0.0.1:8080" },
            "blockHostnames": ["*.blocked"],
            "blacklistIPs": ["10.0.0.0/8"],
            "dns": { "ttl": "0", "select": "first", "policy": "onlyIPv4" },
            "userAgent": "me",
            "noConnectionReuse": true,
            "batch": 7,
            "batchPerHost": 3,
            "tlsVersion": { "min": "tls1.2" },
            "localIPs": "127.0.0.2",
            "rps": 4,
        }))
        .unwrap();
        let settings = &network.settings;
        let found = settings.dialer.overrides.find("a.test", 80).unwrap();
        assert_eq!(found, "127.0.0.1:8080".parse().unwrap());
        assert!(settings.dialer.blocked_hosts[0].matches("x.blocked"));
        assert_eq!(settings.dialer.blocked_networks.len(), 1);
        assert_eq!(settings.dialer.resolver.ttl, Duration::ZERO);
        assert_eq!(
            (settings.user_agent.as_str(), settings.reuse_connections),
            ("me", false)
        );
        assert_eq!((settings.max_idle, settings.max_idle_per_host), (7, 3));
        assert_eq!(network.sources.unwrap().of_user(0).to_string(), "127.0.0.2");
        let (pace, now) = (network.pace.unwrap(), Instant::now());
        let starts: Vec<_> = (0..3).map(|_| pace.reserve(now) - now).collect();
        assert_eq!(starts, [0, 250, 500].map(Duration::from_millis));
    }

    #[test]
    fn options_that_cannot_be_used_are_named() {
        let check = |options: Value, expected: &str| {
            let error = network(&options).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        };
        check(json!({ "hosts": { "a": "b" } }), "`hosts`: \"b\" is no address");
        check(
            json!({ "blacklistIPs": ["x"] }),
            "`blacklistIPs`: \"x\" is no network",
        );
        check(
            json!({ "blockHostnames": ["a b"] }),
            "`blockHostnames`: \"a b\" is no host name",
        );
        check(json!({ "dns": "ttl=5m,select=last" }), "`dns`: \"last\"");
        check(json!({ "dns": { "tll": "5m" } }), "unknown field \"tll\"");
        check(json!({ "tlsVersion": "tls1.1" }), "tls1.1 is not supported");
        check(json!({ "tlsVersion": "ssl" }), "`tlsVersion`: \"ssl\"");
        check(json!({ "tlsAuth": [{ "password": "x" }] }), "with a password");
        check(
            json!({ "tlsAuth": [{ "cert": "x", "key": "y" }] }),
            "the certificate is no PEM",
        );
        check(json!({ "localIPs": "nowhere" }), "`localIPs`");
        assert!(network(&json!({})).unwrap().pace.is_none());
    }
}
