//! The network options of a script's clients: names, source addresses, TLS, `User-Agent`.

use std::{net::IpAddr, sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::{Dialer, HostPattern, Network as Block, Overrides, Proxies, Resolver, SourceAddresses},
    tls::{Believe, Identity, Tls, TlsError, TlsOptions, TlsVersion, Versions},
};
use plimsoll_load::plan::{Options, OptionsError, parse_duration};
use plimsoll_trust::Authorities;
use serde_json::Value;

/// The network options. One value serves all virtual users, which share the resolved names.
#[derive(Debug)]
pub(crate) struct Network {
    /// The dialer, which resolves names and opens connections.
    pub(crate) dialer: Arc<Dialer>,
    /// The TLS configuration for `https` and `wss`.
    pub(crate) tls: Arc<Tls>,
    /// The default field `User-Agent` of requests; empty for no such field.
    pub(crate) user_agent: String,
    sources: Option<SourceAddresses>,
    /// The options that [`Self::tls`] was made of.
    tls_options: TlsOptions,
}

/// Certificates that a script gives for one connection, in PEM.
#[derive(Debug, Default)]
pub(crate) struct OwnTls {
    /// The client's certificate; empty for none.
    pub(crate) certificate: String,
    /// Its key.
    pub(crate) key: String,
    /// Authorities to trust beside those of the system.
    pub(crate) authorities: Vec<String>,
}

/// An option that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("option `{option}`: {reason}")]
pub(crate) struct NetworkError {
    option: &'static str,
    reason: String,
}

/// The default time to live of k6's option `dns`.
const DEFAULT_TTL: Duration = Duration::from_secs(300);

impl Network {
    /// What the options ask for.
    ///
    /// # Errors
    /// The first option that cannot be used.
    pub(crate) fn of(options: &Options, proxies: Proxies) -> Result<Self, NetworkError> {
        let get = |option| options.get(option).filter(|value| !value.is_null());
        let sources = get("localIPs").and_then(Value::as_str);
        let user_agent = get("userAgent").and_then(Value::as_str);
        let tls_options = tls_options(&get)?;
        Ok(Self {
            dialer: Arc::new(Dialer {
                proxies,
                ..dialer(&get)?
            }),
            tls: Arc::new(made(&tls_options)?),
            tls_options,
            user_agent: user_agent
                .unwrap_or(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
                .to_owned(),
            sources: sources.map(str::parse).transpose().map_err(of("localIPs"))?,
        })
    }

    /// The source address of a virtual user's connections; `None` leaves the choice to the system.
    pub(crate) fn source_of(&self, vu: u32) -> Option<IpAddr> {
        let sources = self.sources.as_ref()?;
        Some(sources.of_user(u64::from(vu.saturating_sub(1))))
    }
}

impl Network {
    /// TLS with the options of the run, and with a script's own certificates.
    ///
    /// # Errors
    /// For people: a certificate cannot be used.
    pub(crate) fn tls_with(&self, own: &OwnTls) -> Result<Tls, String> {
        let mut options = self.tls_options.clone();
        // The option that trusts all certificates wins, as in k6.
        if !own.authorities.is_empty() && !matches!(options.believe, Believe::Anybody) {
            let mut trusted = plimsoll_trust::system_authorities().unwrap_or_else(|_| empty_authorities());
            for (index, pem) in own.authorities.iter().enumerate() {
                let found = Authorities::in_pem(pem.as_bytes());
                let wrong = |_| format!("failed to append ca certificate [{index}] from PEM");
                trusted.extend(found.map_err(wrong)?);
            }
            options.believe = Believe::Authorities(trusted);
        }
        options.identities.clear();
        if !own.certificate.is_empty() && !own.key.is_empty() {
            options.identities.push(Identity {
                domains: Vec::new(),
                certificates: own.certificate.clone(),
                key: own.key.clone(),
            });
        }
        Tls::new(options).map_err(|error| format!("failed to append certificate from PEM: {error}"))
    }
}

fn empty_authorities() -> Authorities {
    rustls::RootCertStore::empty().into()
}

fn dialer<'a>(get: &impl Fn(&'static str) -> Option<&'a Value>) -> Result<Dialer, NetworkError> {
    let pairs = get("hosts").and_then(Value::as_object).into_iter().flatten();
    let pairs = pairs.filter_map(|(host, address)| Some((host.as_str(), address.as_str()?)));
    let hosts = texts(get("blockHostnames")).map(str::parse::<HostPattern>);
    let blocks = texts(get("blacklistIPs")).map(str::parse::<Block>);
    Ok(Dialer {
        overrides: Overrides::parse(pairs).map_err(of("hosts"))?,
        blocked_hosts: hosts.collect::<Result<_, _>>().map_err(of("blockHostnames"))?,
        blocked_networks: blocks.collect::<Result<_, _>>().map_err(of("blacklistIPs"))?,
        resolver: resolver(get("dns"))?,
        ..Dialer::default()
    })
}

/// Whether the options of all layers together can be used by the clients of scripts; for a front end, which knows
/// where each was given.
///
/// # Errors
/// The first option that cannot be used.
pub fn check_options(options: &Options) -> Result<(), OptionsError> {
    match Network::of(options, Proxies::default()) {
        Ok(_) => Ok(()),
        Err(NetworkError { option, reason }) => Err(OptionsError {
            path: option.to_owned(),
            problem: reason,
        }),
    }
}

/// The parts of the option `dns`.
const DNS_PARTS: [&str; 3] = ["ttl", "select", "policy"];

/// `dns` is an object in a script, and `ttl=5m,select=first` on the command line.
fn resolver(dns: Option<&Value>) -> Result<Resolver, NetworkError> {
    let written = dns.and_then(Value::as_str).unwrap_or_default();
    let mut parts = written.split(',').filter(|part| !part.trim().is_empty());
    let is_known = |part: &&str| {
        part.split_once('=')
            .is_some_and(|(name, _)| DNS_PARTS.contains(&name.trim()))
    };
    if let Some(wrong) = parts.find(|part| !is_known(part)) {
        let problem = format!(
            "`{wrong}` is not one of {}; expected something like ttl=5m,select=random,policy=preferIPv4",
            DNS_PARTS.join(", ")
        );
        return Err(of("dns")(problem));
    }
    let part = |name: &str| -> Option<String> {
        match dns? {
            Value::String(text) => {
                let parts = text.split(',').filter_map(|part| part.split_once('='));
                let mut found = parts.filter(|(key, _)| key.trim() == name);
                found.next().map(|(_, value)| value.trim().to_owned())
            }
            Value::Object(parts) => parts.get(name).map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            }),
            _ => None,
        }
    };
    let ttl = match part("ttl").as_deref() {
        None => DEFAULT_TTL,
        // Longer than any run.
        Some("inf") => Duration::MAX,
        Some(text) => parse_duration(text).map_err(of("dns"))?,
    };
    let select = part("select").map(|text| text.parse()).transpose();
    let policy = part("policy").map(|text| text.parse()).transpose();
    Ok(Resolver::new(
        ttl,
        select.map_err(of("dns"))?.unwrap_or_default(),
        policy.map_err(of("dns"))?.unwrap_or_default(),
    ))
}

fn tls_options<'a>(get: &impl Fn(&'static str) -> Option<&'a Value>) -> Result<TlsOptions, NetworkError> {
    let suites = get("tlsCipherSuites").and_then(Value::as_array);
    let skips = get("insecureSkipTLSVerify") == Some(&Value::Bool(true));
    let identities = get("tlsAuth").and_then(Value::as_array).into_iter().flatten();
    Ok(TlsOptions {
        believe: if skips { Believe::Anybody } else { Believe::System },
        versions: versions(get("tlsVersion"))?,
        cipher_suites: suites.map(|_| texts(get("tlsCipherSuites")).map(str::to_owned).collect()),
        identities: identities.map(identity).collect::<Result<_, _>>()?,
        hides_server_name: false,
    })
}

fn made(options: &TlsOptions) -> Result<Tls, NetworkError> {
    Tls::new(options.clone()).map_err(|error| of(option_of(&error))(error))
}

/// The option that an error of TLS belongs to.
fn option_of(error: &TlsError) -> &'static str {
    match error {
        TlsError::Version(_) | TlsError::Range(_) | TlsError::TooOld(_) => "tlsVersion",
        TlsError::CipherSuite { .. } | TlsError::NoCipherSuite => "tlsCipherSuites",
        TlsError::Identity { .. } => "tlsAuth",
    }
}

/// The versions: one text for both ends, or `{ min, max }`.
fn versions(value: Option<&Value>) -> Result<Versions, NetworkError> {
    let all = Versions::default();
    let end = |name: &str, default: TlsVersion| {
        let text = match value {
            Some(Value::Object(ends)) => ends.get(name).and_then(Value::as_str),
            Some(Value::String(text)) => Some(text.as_str()),
            _ => None,
        };
        text.filter(|text| !text.is_empty())
            .map_or(Ok(default), str::parse)
            .map_err(of("tlsVersion"))
    };
    Ok(Versions {
        min: end("min", all.min)?,
        max: end("max", all.max)?,
    })
}

fn identity(value: &Value) -> Result<Identity, NetworkError> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if !text("password").is_empty() {
        return Err(NetworkError {
            option: "tlsAuth",
            reason: "keys with a password are not supported; write the key without one, for example with \
                     `openssl pkey -in key.pem -out plain.pem`"
                .to_owned(),
        });
    }
    let domains = texts(value.get("domains")).map(str::parse);
    Ok(Identity {
        domains: domains.collect::<Result<_, _>>().map_err(of("tlsAuth"))?,
        certificates: text("cert").to_owned(),
        key: text("key").to_owned(),
    })
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str)
}

fn of<E: std::fmt::Display>(option: &'static str) -> impl Fn(E) -> NetworkError {
    move |error| NetworkError {
        option,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn network(options: &Value) -> Result<Network, NetworkError> {
        Network::of(&Options::from_json(options).unwrap().options, Proxies::default())
    }

    #[tokio::test]
    async fn options_say_where_hosts_are() {
        let network = network(&json!({
            "hosts": { "a.example": "127.0.0.1:8080", "*.b.example": "127.0.0.2" },
            "blockHostnames": ["*.evil.example"],
            "blacklistIPs": ["10.0.0.0/8"],
            "dns": { "ttl": "0", "select": "first", "policy": "any" },
            "localIPs": "127.0.0.5-127.0.0.6",
            "userAgent": "me",
        }))
        .unwrap();
        let check = async |host: &str, expected: &str| {
            let found = match network.dialer.locate(host, 80).await {
                Ok(address) => address.to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{host}");
        };
        check("a.example", "127.0.0.1:8080").await;
        check("x.b.example", "127.0.0.2:80").await;
        check(
            "x.evil.example",
            "hostname (x.evil.example) is in a blocked pattern",
        )
        .await;
        check("10.1.1.1", "IP (10.1.1.1) is in a blacklisted range (10.0.0.0/8)").await;
        let sources: Vec<_> = (1..=3).filter_map(|vu| network.source_of(vu)).collect();
        assert_eq!(
            sources,
            ["127.0.0.5", "127.0.0.6", "127.0.0.5"].map(|ip| ip.parse::<IpAddr>().unwrap())
        );
        assert_eq!(network.user_agent, "me");
    }

    #[test]
    fn without_options_there_are_k6s_defaults() {
        let network = network(&json!({})).unwrap();
        assert_eq!(network.source_of(1), None);
        assert!(network.user_agent.starts_with("plimsoll/"));
    }

    #[test]
    fn bad_options_are_named() {
        let check = |options: Value, expected: &str| {
            let error = network(&options).unwrap_err().to_string();
            assert!(error.contains(expected), "{error} instead of {expected}");
        };
        check(json!({ "hosts": { "a": "b" } }), "option `hosts`: \"b\"");
        check(json!({ "dns": "ttl=1x" }), "option `dns`: ");
        check(
            json!({ "dns": "ttl=1m,sort=first" }),
            "`sort=first` is not one of ttl, select, policy",
        );
        check(json!({ "dns": "nonsense" }), "`nonsense` is not one of");
        check(
            json!({ "dns": { "select": "last" } }),
            "\"last\" is not a valid `select`",
        );
        check(json!({ "localIPs": "x" }), "option `localIPs`: ");
        check(
            json!({ "tlsVersion": "tls1.1" }),
            "option `tlsVersion`: tls1.1 is not supported",
        );
        check(
            json!({ "tlsVersion": { "min": "ssl3.0" } }),
            "\"ssl3.0\" is not a TLS version",
        );
        check(json!({ "tlsAuth": [{ "password": "x" }] }), "openssl pkey");
        check(
            json!({ "tlsCipherSuites": ["x"] }),
            "option `tlsCipherSuites`: the cipher suite \"x\"",
        );
    }
}
