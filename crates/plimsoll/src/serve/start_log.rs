//! The first lines of the log: what the server serves, and where.

use plimsoll_load::preflight::OpenFileLimit;
use plimsoll_server::{Config, Listeners, PathPattern, Ports};

use super::{api, broadcasting};

pub(super) fn write(config: &Config, open_files: &OpenFileLimit, ports: &Ports, node_id: Option<&str>) {
    tracing::info!(
        node_id,
        shards = config.n_shards,
        io = if config.uses_io_uring {
            "io_uring"
        } else {
            "system calls"
        },
        pid = std::process::id(),
        "Plimsoll {} starts; the open-file limit of {} allows about {} connections.",
        env!("CARGO_PKG_VERSION"),
        open_files.soft,
        config.max_connections,
    );
    let secure = if config.tls.is_some() { "s" } else { "" };
    for address in ports.clients.addresses() {
        for line in offers(
            config.echoes_everywhere,
            &config.paths,
            &format!("ws{secure}://{address}"),
        ) {
            tracing::info!("{line}");
        }
        if let Some(path) = &config.events_path {
            tracing::info!("Server-Sent Events are served on http{secure}://{address}{path}.");
        }
    }
    if let Some(durable) = &config.durable_streams {
        for address in ports.clients.addresses() {
            let path = &durable.path;
            tracing::info!("Durable Streams are read on http{secure}://{address}{path}/<stream>.");
        }
    }
    if let Some(broker) = &config.broker {
        let place = if config.engine.is_some() {
            "the broker of all servers"
        } else {
            "memory"
        };
        tracing::info!(
            "Messages are kept in {place} for clients that were away: {} of a stream, for {} seconds.",
            broker.history.retentions.default.limit,
            broker.history.retentions.default.ttl.as_secs(),
        );
    }
    if let Some(webhook) = &config.presence_webhook {
        tracing::info!("Joins and leaves are told to {}.", webhook.url());
    }
    if let Some(broadcasts) = &config.broadcasts {
        let scheme = format!("http{secure}");
        broadcasting::log_start(broadcasts, &scheme, ports.broadcasts.as_ref());
    }
    if let Some(api) = &config.api {
        let scheme = format!("http{secure}");
        api::log_start(api, &scheme, ports.api.as_ref().unwrap_or(&ports.clients));
    }
    if let Some(page) = &config.metrics_page {
        let own = ports.metrics.iter().flat_map(Listeners::addresses);
        let shared = ports.clients.addresses().iter().filter(|_| page.on_main_port);
        for address in own.chain(shared) {
            tracing::info!("Metrics are served on http{secure}://{address}{}.", page.path);
        }
    }
    if let Some(page) = &config.admin_page {
        let listeners = if page.on_main_port {
            Some(&ports.clients)
        } else {
            ports.metrics.as_ref()
        };
        for address in listeners.into_iter().flat_map(Listeners::addresses) {
            tracing::info!("The page for operators is on http{secure}://{address}/admin.");
        }
    }
}

/// The WebSockets that clients find at an address. With `echoes_everywhere`, no path has Action Cable.
fn offers(echoes_everywhere: bool, paths: &[PathPattern], address: &str) -> Vec<String> {
    if echoes_everywhere {
        return vec![format!(
            "WebSockets on {address}, whatever their path, get every message back."
        )];
    }
    let line = |path| format!("Action Cable clients are served on {address}{path}.");
    paths.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_has_no_action_cable() {
        let paths = ["/cable", "/ws/*"].map(|path| path.parse().unwrap());
        assert_eq!(
            offers(false, &paths, "ws://h:1"),
            [
                "Action Cable clients are served on ws://h:1/cable.",
                "Action Cable clients are served on ws://h:1/ws/*."
            ]
        );
        assert_eq!(
            offers(true, &paths, "wss://h:1"),
            ["WebSockets on wss://h:1, whatever their path, get every message back."]
        );
    }
}
