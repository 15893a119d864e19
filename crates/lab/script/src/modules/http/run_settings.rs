//! What the options of a run say about requests over HTTP; the same for all virtual users.

use std::{collections::BTreeMap, sync::Arc};

use plimsoll_clients::http::{KeptBodies, Settings};
use plimsoll_load::{plan::Options, preflight::Memory};
use serde_json::Value;

use super::pace::Pace;
use crate::network::Network;

/// The number of unused connections to a host that are kept when a batch has no limit, as in Go's client.
const IDLE_PER_HOST: usize = 2;

/// One value serves all workers.
#[derive(Debug)]
pub(crate) struct RunSettings {
    pub(super) client: Arc<Settings>,
    /// The number of concurrent requests of a batch; zero is no limit.
    pub(super) batch: usize,
    /// The number of concurrent requests to one host; zero is no limit.
    pub(super) batch_per_host: usize,
    pub(super) pace: Option<Pace>,
}

impl RunSettings {
    /// The settings of clients.
    pub(crate) fn client(&self) -> &Arc<Settings> {
        &self.client
    }

    /// Reads the options. `env` is `__ENV`.
    pub(crate) fn new(network: &Network, options: &Options, env: &BTreeMap<String, String>) -> Self {
        let mut client = Settings::new(Arc::clone(&network.dialer), Arc::clone(&network.tls));
        let count = |key: &str| {
            let number = options.get(key).and_then(Value::as_u64)?;
            usize::try_from(number).ok()
        };
        client.kept_bodies = KeptBodies::new(Memory::read().half());
        client.user_agent.clone_from(&network.user_agent);
        client.reuse_connections = options.get("noConnectionReuse") != Some(&Value::Bool(true));
        let batch = count("batch").unwrap_or(client.max_idle);
        let batch_per_host = count("batchPerHost").unwrap_or(client.max_idle_per_host);
        client.max_idle = if batch == 0 { usize::MAX } else { batch };
        client.max_idle_per_host = if batch_per_host == 0 {
            IDLE_PER_HOST
        } else {
            batch_per_host
        };
        // Go's switch, which k6's users know.
        let debug = env.get("GODEBUG");
        client.http2 = !debug.is_some_and(|debug| debug.contains("http2client=0"));
        Self {
            client: Arc::new(client),
            batch,
            batch_per_host,
            pace: options.get("rps").and_then(Value::as_f64).and_then(Pace::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_clients::dial::Proxies;
    use serde_json::json;

    use super::*;

    #[test]
    fn options_and_environment_are_read() {
        let settings = |options: &Value, env: &[(&str, &str)]| {
            let options = Options::from_json(options).unwrap().options;
            let env = env
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()));
            RunSettings::new(
                &Network::of(&options, Proxies::default()).unwrap(),
                &options,
                &env.collect(),
            )
        };
        let plain = settings(&json!({}), &[]);
        assert_eq!((plain.client.max_idle, plain.client.max_idle_per_host), (20, 6));
        assert!(plain.client.http2 && plain.client.reuse_connections && plain.pace.is_none());
        let options =
            json!({ "batch": 7, "batchPerHost": 3, "noConnectionReuse": true, "rps": 5, "userAgent": "me" });
        let own = settings(&options, &[("GODEBUG", "http2client=0")]);
        assert_eq!((own.client.max_idle, own.client.max_idle_per_host), (7, 3));
        assert!(!own.client.http2 && !own.client.reuse_connections && own.pace.is_some());
        assert_eq!(own.client.user_agent, "me");
        let any = settings(&json!({ "batch": 0, "batchPerHost": 0 }), &[]);
        assert_eq!((any.batch, any.batch_per_host), (0, 0));
        assert_eq!(
            (any.client.max_idle, any.client.max_idle_per_host),
            (usize::MAX, IDLE_PER_HOST)
        );
    }
}
