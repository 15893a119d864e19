//! A server on a free port, in this process.

use std::{
    net::SocketAddr,
    thread::{self, JoinHandle},
    time::Duration,
};

use plimsoll_server::{
    AllowedOrigins, BackendAccess, Broadcasts, Config, Listeners, PingPrecision, Ports, ProxiedHeaders,
    Publisher,
};
use plimsoll_telemetry::Registry;
use tokio::sync::oneshot;

use crate::application::Starts;

pub(crate) struct Server {
    address: SocketAddr,
    publisher: Publisher,
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
    thread: JoinHandle<()>,
}

/// Settings for tests. Two shards, so that messages between threads are tested, too.
pub(crate) fn config() -> Config {
    Config {
        paths: vec!["/cable".parse().unwrap()],
        events_path: Some("/events".to_owned()),
        health_path: "/health".to_owned(),
        ready_path: "/ready".to_owned(),
        metrics_page: None,
        admin_page: None,
        broadcasts: Some(Broadcasts {
            path: "/_broadcast".to_owned(),
            on_main_port: true,
            access: BackendAccess::Key("key".to_owned()),
            cors: false,
        }),
        api: None,
        broker: None,
        engine: None,
        presence_webhook: None,
        durable_streams: None,
        max_message_bytes: 65_536,
        max_pending_bytes: 1 << 20,
        max_pending_total: 1 << 30,
        max_body_total: 64 << 20,
        max_connections: 100,
        max_connections_per_address: None,
        tls: None,
        allowed_origins: AllowedOrigins::default(),
        // No ping may come between a test's messages.
        ping_interval: Duration::from_secs(3600),
        pong_timeout: None,
        native_pings: false,
        ping_precision: PingPrecision::Seconds,
        handshake_timeout: Duration::from_secs(10),
        proxied_headers: ProxiedHeaders::default(),
        slow_drain: Duration::ZERO,
        drain_timeout: Duration::from_millis(200),
        shutdown_timeout: Duration::from_millis(200),
        serves_load_tests: true,
        echoes_everywhere: false,
        serves_demo_page: false,
        greets_echo: false,
        uses_io_uring: true,
        compresses: false,
        stats_interval: Duration::from_secs(3600),
        n_shards: 2,
        registry: Registry::default(),
    }
}

impl Server {
    pub(crate) fn start(config: Config, application: impl Starts) -> Self {
        let listeners = Listeners::bind("127.0.0.1", 0, config.n_shards).unwrap();
        let address = listeners.addresses()[0];
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (give_publisher, publisher) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let start = |publisher: Publisher| {
                give_publisher.send(publisher.clone()).unwrap();
                application.start(publisher)
            };
            let ports = Ports {
                clients: listeners,
                broadcasts: None,
                api: None,
                metrics: None,
            };
            let shutdown = async { stopped.await.unwrap() };
            runtime
                .block_on(plimsoll_server::run(config, ports, start, shutdown, async {}))
                .unwrap();
            end.send(()).unwrap();
        });
        Self {
            address,
            publisher: publisher.recv().unwrap(),
            stop,
            ended,
            thread,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Tells the server to stop. The future completes when it has stopped.
    pub(crate) fn begin_stop(self) -> impl Future<Output = ()> {
        let Self {
            stop,
            ended,
            thread,
            publisher,
            ..
        } = self;
        stop.send(()).unwrap();
        async move {
            drop(publisher);
            ended.await.unwrap();
            thread.join().unwrap();
        }
    }

    pub(crate) async fn stop(self) {
        self.begin_stop().await;
    }
}
