//! Answers to operators and orchestrators: metrics, whether the process is alive, whether it is ready.
//!
//! A process that is alive and not ready must not be restarted. It only should get no new clients, because a dependency
//! is down, or because the server is about to stop.

use hyper::{Request, StatusCode, header};
use plimsoll_telemetry::{CONTENT_TYPE, DependencyStatus, Registry, Snapshot};
use serde::Serialize;

use super::{
    answers::{Answer, answer_of, text},
    cluster::Cluster,
};
use crate::{config::Config, purpose::Purpose, shard::Shard};

/// The prefix of the metrics of the registry. Dashboards for AnyCable look for it.
const METRICS_PREFIX: &str = "anycable_go_";

/// The state of a dependency, in an answer.
#[derive(Debug, Serialize)]
struct Dependency {
    name: &'static str,
    up: bool,
    /// Why the dependency is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How long the dependency has been in this state, in seconds.
    for_s: u64,
}

#[derive(Debug, Serialize)]
struct Health {
    alive: bool,
    version: &'static str,
    #[serde(flatten)]
    state: State,
}

/// The answer of the readiness path.
#[derive(Debug, Serialize)]
struct State {
    #[serde(flatten)]
    readiness: Readiness,
    /// `None`: this server is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Cluster>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Readiness {
    ready: bool,
    dependencies: Vec<Dependency>,
}

/// The answer, if the request is for metrics, health or readiness.
pub(super) fn answer<B>(shard: &Shard, request: &Request<B>, purpose: Purpose) -> Option<Answer> {
    let config = &shard.config;
    let path = request.uri().path();
    if path == config.health_path {
        return Some(health(shard, wants_json(request)));
    }
    if path == config.ready_path {
        return Some(readiness(shard));
    }
    let page = config.metrics_page.as_ref()?;
    let is_here = page.on_main_port || purpose == Purpose::Metrics;
    (path == page.path && is_here).then(|| {
        let mut text = config
            .registry
            .snapshot()
            .to_prometheus(METRICS_PREFIX, &page.tags);
        let unprefixed = Snapshot {
            metrics: (page.unprefixed)(),
        };
        text.push_str(&unprefixed.to_prometheus("", &page.tags));
        answer_of(StatusCode::OK, CONTENT_TYPE, text)
    })
}

/// The answer of the health path. The short form is AnyCable's, with which load balancers compare.
fn health(shard: &Shard, wants_json: bool) -> Answer {
    if !wants_json {
        return text(StatusCode::OK, "OK");
    }
    let health = Health {
        alive: true,
        version: env!("CARGO_PKG_VERSION"),
        state: State::read(&shard.config),
    };
    json(StatusCode::OK, &health)
}

fn readiness(shard: &Shard) -> Answer {
    let state = State::read(&shard.config);
    json(state.status(), &state)
}

fn wants_json<B>(request: &Request<B>) -> bool {
    let accepted = request.headers().get(header::ACCEPT);
    accepted.is_some_and(|types| {
        types
            .as_bytes()
            .windows(JSON.len())
            .any(|part| part == JSON.as_bytes())
    })
}

const JSON: &str = "application/json";

fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    let text = serde_json::to_string(value).expect("strings, numbers and booleans are JSON");
    answer_of(status, JSON, text + "\n")
}

impl State {
    fn read(config: &Config) -> Self {
        let engine = config.engine.as_ref().map(|engine| engine.name());
        Self::of(&config.registry, engine)
    }

    /// The state of a server. `engine` is the name of the cluster's engine. `None`: this server is alone.
    fn of(registry: &Registry, engine: Option<&'static str>) -> Self {
        Self {
            readiness: Readiness::of(registry.dependencies()),
            cluster: engine.map(|engine| Cluster::read(engine, registry)),
        }
    }

    /// The status of the answer. Only the dependencies decide: figures of the cluster make no server unready.
    fn status(&self) -> StatusCode {
        if self.readiness.ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

impl Readiness {
    pub(crate) fn of(dependencies: Vec<DependencyStatus>) -> Self {
        Self {
            ready: dependencies.iter().all(DependencyStatus::is_up),
            dependencies: dependencies.into_iter().map(Dependency::from).collect(),
        }
    }
}

impl From<DependencyStatus> for Dependency {
    fn from(status: DependencyStatus) -> Self {
        Self {
            name: status.name,
            up: status.is_up(),
            reason: status.down_because,
            for_s: status.since.as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn check(down_because: &[Option<&str>], expected: &str) {
        let statuses = down_because.iter().map(|reason| DependencyStatus {
            name: "redis",
            down_because: reason.map(str::to_owned),
            since: Duration::from_millis(2_900),
        });
        let found = serde_json::to_string(&Readiness::of(statuses.collect())).expect("JSON");
        assert_eq!(found, expected);
    }

    #[test]
    fn ready_is_who_has_all_it_needs() {
        check(&[], r#"{"ready":true,"dependencies":[]}"#);
        check(
            &[None],
            r#"{"ready":true,"dependencies":[{"name":"redis","up":true,"for_s":2}]}"#,
        );
        check(
            &[None, Some("gone")],
            concat!(
                r#"{"ready":false,"dependencies":[{"name":"redis","up":true,"for_s":2},"#,
                r#"{"name":"redis","up":false,"reason":"gone","for_s":2}]}"#
            ),
        );
    }

    /// The answer of a server whose dependency is up or down, with figures of a cluster that heard nothing for an hour.
    fn check_state(is_up: bool, engine: Option<&'static str>, expected: (u16, &str)) {
        let registry = Registry::default();
        let dependency = registry.dependency("redis");
        if is_up {
            dependency.up();
        } else {
            dependency.down("gone");
        }
        registry.gauge("cluster_deaf_seconds", "").set(3600);
        let state = State::of(&registry, engine);
        let found = serde_json::to_string(&state).expect("JSON");
        assert_eq!((state.status().as_u16(), found.as_str()), expected);
    }

    #[test]
    fn only_dependencies_decide_the_status_of_a_server_in_a_cluster() {
        const UP: &str = r#"{"ready":true,"dependencies":[{"name":"redis","up":true,"for_s":0}]"#;
        const DOWN: &str =
            r#"{"ready":false,"dependencies":[{"name":"redis","up":false,"reason":"gone","for_s":0}]"#;
        const CLUSTER: &str = r#","cluster":{"engine":"redis","deaf_s":3600.0}"#;
        check_state(true, None, (200, &format!("{UP}}}")));
        check_state(true, Some("redis"), (200, &format!("{UP}{CLUSTER}}}")));
        check_state(false, None, (503, &format!("{DOWN}}}")));
        check_state(false, Some("redis"), (503, &format!("{DOWN}{CLUSTER}}}")));
    }

    #[test]
    fn json_is_for_those_who_ask_for_it() {
        for (accept, expected) in [
            (None, false),
            (Some("*/*"), false),
            (Some("text/html,application/json;q=0.9"), true),
        ] {
            let mut request = Request::new(());
            if let Some(accept) = accept {
                request
                    .headers_mut()
                    .insert(header::ACCEPT, header::HeaderValue::from_static(accept));
            }
            assert_eq!(wants_json(&request), expected, "{accept:?}");
        }
    }
}
