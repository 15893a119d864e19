//! A server that gives secrets over HTTP, as k6's secret source `url` asks it (docs/reference/run.md, Secrets).

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::{client::legacy, rt::TokioExecutor};
use plimsoll_clients::dial::Proxies;
use plimsoll_trust::system_authorities;
use tokio::{
    sync::OnceCell,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::connector::{Connector, Schemes, over_tls, with_causes};

/// What stands for the key in the template of a URL.
const KEY: &str = "{key}";

/// The longest answer, in bytes (k6's).
const MAX_ANSWER_BYTES: usize = 24 * 1024;

/// The most keys that are remembered. Reason: a script that makes them up must not take all memory.
const MAX_KEYS: usize = 10_000;

/// How a server is asked for secrets.
#[derive(Clone)]
pub struct SecretServerSettings {
    /// The URL, with `{key}` where the key goes.
    pub url_template: String,
    /// Usually GET.
    pub method: Method,
    /// Sent with every request.
    pub headers: HeaderMap,
    /// Where the secret is in a JSON answer; empty if the answer is the secret.
    pub response_path: Vec<String>,
    /// The time for one request. Greater than 0.
    pub timeout: Duration,
    /// The most requests per minute. Greater than 0.
    pub requests_per_minute: u32,
    /// How many requests may come at once. Greater than 0.
    pub requests_burst: u32,
    /// How often a request is repeated that may succeed later.
    pub max_retries: u32,
    /// Wait `n` before a repetition is this, in seconds, to the power of `n`, and up to one second more.
    pub retry_backoff: Duration,
}

/// A server that is asked for each key once. `Debug` output has no headers.
pub struct SecretServer {
    settings: SecretServerSettings,
    proxies: Proxies,
    client: OnceLock<Client>,
    secrets: Mutex<HashMap<String, Arc<OnceCell<String>>>>,
    /// The time from which on requests are no longer too many.
    next: Mutex<Option<Instant>>,
}

type Client = legacy::Client<HttpsConnector<Connector>, Empty<Bytes>>;

/// Why there is no secret. The text has no part of the URL but the host, because the rest may be a secret.
struct Fault {
    problem: String,
    may_pass: bool,
}

impl Fault {
    fn final_one(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            may_pass: false,
        }
    }

    fn passing(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            may_pass: true,
        }
    }
}

impl fmt::Debug for SecretServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretServer")
    }
}

impl SecretServer {
    /// A server that has not been asked yet.
    ///
    /// # Errors
    /// For people: the template of the URL cannot be used.
    pub fn new(settings: SecretServerSettings, proxies: Proxies) -> Result<Self, String> {
        let server = Self {
            settings,
            proxies,
            client: OnceLock::new(),
            secrets: Mutex::default(),
            next: Mutex::default(),
        };
        if !server.settings.url_template.contains(KEY) {
            return Err(format!(
                "urlTemplate has no {KEY}, which stands for the key of a secret; expected something like \
                 https://vault.example/secrets/{KEY}"
            ));
        }
        match server.url("key") {
            Ok(_) => Ok(server),
            Err(fault) => Err(format!("urlTemplate: {}", fault.problem)),
        }
    }

    /// The secret of a key.
    ///
    /// # Errors
    /// For people: the server has not given it.
    pub(super) async fn get(&self, key: &str) -> Result<String, String> {
        let cell = self.cell(key)?;
        cell.get_or_try_init(|| self.fetch(key)).await.cloned()
    }

    fn cell(&self, key: &str) -> Result<Arc<OnceCell<String>>, String> {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = secrets.get(key) {
            return Ok(Arc::clone(cell));
        }
        if secrets.len() == MAX_KEYS {
            return Err(format!("the script has asked for more than {MAX_KEYS} secrets"));
        }
        Ok(Arc::clone(secrets.entry(key.to_owned()).or_default()))
    }

    async fn fetch(&self, key: &str) -> Result<String, String> {
        let SecretServerSettings {
            max_retries,
            retry_backoff,
            ..
        } = self.settings;
        sleep_until(self.reserve(Instant::now())).await;
        let mut n_retries = 0;
        loop {
            let fault = match self.ask_in_time(key).await {
                Ok(secret) => return Ok(secret),
                Err(fault) => fault,
            };
            if !fault.may_pass {
                return Err(fault.problem);
            }
            if n_retries == max_retries {
                return Err(format!("{} ({} requests)", fault.problem, n_retries + 1));
            }
            n_retries += 1;
            sleep(backoff(retry_backoff, n_retries, fastrand::f64())).await;
        }
    }

    /// The time at which one more request is not too much. A burst is saved up while there are none.
    fn reserve(&self, now: Instant) -> Instant {
        let interval = Duration::from_mins(1) / self.settings.requests_per_minute;
        let saved = interval.saturating_mul(self.settings.requests_burst - 1);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        // The first instant may be too early for anything to be before it.
        let earliest = now.checked_sub(saved).unwrap_or(now);
        let turn = next.map_or(earliest, |next| next.max(earliest));
        *next = Some(turn + interval);
        turn.max(now)
    }

    async fn ask_in_time(&self, key: &str) -> Result<String, Fault> {
        match timeout(self.settings.timeout, self.ask(key)).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::passing(format!(
                "no answer within {:?}",
                self.settings.timeout
            ))),
        }
    }

    async fn ask(&self, key: &str) -> Result<String, Fault> {
        let url = self.url(key)?;
        let host = url.authority().map(|authority| authority.host().to_owned());
        let host = host.unwrap_or_default();
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = url;
        *request.method_mut() = self.settings.method.clone();
        *request.headers_mut() = self.settings.headers.clone();
        let response = self.client()?.request(request).await;
        let response =
            response.map_err(|error| Fault::passing(format!("{host}: {}", with_causes(&error))))?;
        match response.status() {
            StatusCode::OK => {}
            status => {
                return Err(Fault {
                    problem: format!("{host} answers {status}"),
                    may_pass: status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS,
                });
            }
        }
        let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES)
            .collect()
            .await;
        let body = body.map_err(|_| {
            Fault::final_one(format!(
                "{host}: the answer is incomplete, or has more than {MAX_ANSWER_BYTES} bytes"
            ))
        })?;
        secret_in(&body.to_bytes(), &self.settings.response_path)
            .map_err(|problem| Fault::final_one(format!("{host}: {problem}")))
    }

    fn url(&self, key: &str) -> Result<Uri, Fault> {
        let expected = || Fault::final_one("the URL cannot be used; expected http:// or https:// and a host");
        let url: Uri = self
            .settings
            .url_template
            .replace(KEY, key)
            .parse()
            .map_err(|_| expected())?;
        match (url.scheme_str(), url.host()) {
            (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(url),
            _ => Err(expected()),
        }
    }

    fn client(&self) -> Result<&Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let authorities = system_authorities().map_err(|error| Fault::final_one(error.to_string()))?;
        Ok(self.client.get_or_init(|| {
            let connector = over_tls(authorities, &self.proxies, Schemes::HttpsAndHttp);
            // A connection is used once, because the next request may come from the runtime of another thread.
            legacy::Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector)
        }))
    }
}

/// The wait before repetition `n_retries`, from 1; `jitter` is at least 0 and less than 1.
fn backoff(base: Duration, n_retries: u32, jitter: f64) -> Duration {
    let wait = base.as_secs_f64().powf(f64::from(n_retries)) + jitter;
    Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX)
}

/// The secret in an answer.
fn secret_in(answer: &[u8], path: &[String]) -> Result<String, String> {
    let text = str::from_utf8(answer).map_err(|_| "the answer is not UTF-8")?;
    if path.is_empty() {
        return Ok(text.to_owned());
    }
    let json: serde_json::Value = serde_json::from_str(text).map_err(|_| "the answer is not JSON")?;
    let found = path.iter().try_fold(&json, |value, step| match value {
        serde_json::Value::Array(elements) => elements.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    });
    match found {
        Some(serde_json::Value::String(secret)) => Ok(secret.clone()),
        Some(_) => Err(format!(
            "what the answer has at `{}` is not a text",
            path.join(".")
        )),
        None => Err(format!("the answer has nothing at `{}`", path.join("."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SecretServerSettings {
        SecretServerSettings {
            url_template: "http://127.0.0.1:9/{key}".to_owned(),
            method: Method::GET,
            headers: HeaderMap::new(),
            response_path: Vec::new(),
            timeout: Duration::from_secs(30),
            requests_per_minute: 60,
            requests_burst: 3,
            max_retries: 3,
            retry_backoff: Duration::from_secs(1),
        }
    }

    #[test]
    fn secrets_are_found_in_answers() {
        for (answer, path, expected) in [
            ("plain ", "", Ok("plain ")),
            (r#"{"data":{"value":"x"}}"#, "data.value", Ok("x")),
            (r#"{"data":[{"v":"x"},{"v":"y"}]}"#, "data.1.v", Ok("y")),
            (
                r#"{"data":7}"#,
                "data",
                Err("what the answer has at `data` is not a text"),
            ),
            (
                r#"{"data":7}"#,
                "data.x",
                Err("the answer has nothing at `data.x`"),
            ),
            ("no JSON", "a", Err("the answer is not JSON")),
        ] {
            let path: Vec<_> = path
                .split('.')
                .filter(|step| !step.is_empty())
                .map(str::to_owned)
                .collect();
            let found = secret_in(answer.as_bytes(), &path);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{answer}");
        }
    }

    #[test]
    fn a_template_must_be_a_url_with_a_place_for_the_key() {
        for (template, expected) in [
            ("http://localhost/{key}", None),
            ("https://vault.example/v1?name={key}", None),
            ("http://localhost/key", Some("urlTemplate has no {key}")),
            ("localhost/{key}", Some("urlTemplate: the URL cannot be used")),
            ("file:///tmp/{key}", Some("urlTemplate: the URL cannot be used")),
            (
                "http://local host/{key}",
                Some("urlTemplate: the URL cannot be used"),
            ),
        ] {
            let settings = SecretServerSettings {
                url_template: template.to_owned(),
                ..settings()
            };
            let found = SecretServer::new(settings, Proxies::default()).err();
            let matches = match (&found, expected) {
                (Some(found), Some(expected)) => found.starts_with(expected),
                (None, None) => true,
                _ => false,
            };
            assert!(matches, "{template}: {found:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_saved_up_while_there_are_no_requests() {
        let server = SecretServer::new(settings(), Proxies::default()).unwrap();
        tokio::time::advance(Duration::from_secs(100)).await;
        let start = Instant::now();
        let waits = |n: usize, at: u64| -> Vec<u64> {
            let now = start + Duration::from_secs(at);
            (0..n).map(|_| (server.reserve(now) - now).as_secs()).collect()
        };
        assert_eq!(waits(5, 0), [0, 0, 0, 1, 2]);
        assert_eq!(waits(2, 3), [0, 1]);
        assert_eq!(waits(4, 60), [0, 0, 0, 1]);
    }

    #[test]
    fn waits_before_repetitions_grow() {
        let waits = |base| [1, 2, 3].map(|n| backoff(Duration::from_secs(base), n, 0.5).as_secs_f64());
        assert_eq!(waits(1), [1.5, 1.5, 1.5]);
        assert_eq!(waits(2), [2.5, 4.5, 8.5]);
        assert_eq!(backoff(Duration::MAX, 1_000, 0.0), Duration::MAX);
    }
}
