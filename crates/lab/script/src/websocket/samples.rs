//! What is measured of a WebSocket session.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use plimsoll_load::metrics::{
    Recorder,
    built_in::{Data, WebSocket},
};

use crate::program::Program;

/// Tags of a session by which samples are told apart.
#[derive(Debug, Default)]
pub(super) struct SessionTags {
    /// Those of the script; they win.
    pub(super) own: BTreeMap<String, String>,
    /// The URL.
    pub(super) url: String,
    /// Whether there is a tag `name`, too; then a name of the script's stands for the URL, as well.
    pub(super) is_named: bool,
    /// The HTTP status of the answer to the upgrade, if there was one.
    pub(super) status: Option<u16>,
    /// The sub-protocol; empty when none was agreed on.
    pub(super) protocol: String,
    /// The server's address.
    pub(super) ip: Option<IpAddr>,
}

/// Writes the samples of one session.
#[derive(Debug)]
pub(super) struct Samples {
    session: Recorder,
    user: Recorder,
    websocket: WebSocket,
    data: Data,
}

impl Samples {
    /// `user` has the tags of the virtual user.
    pub(super) fn new(program: &Program, user: &Recorder, tags: &SessionTags) -> Self {
        let metrics = program.metrics();
        Self {
            session: tags.recorder(program, user),
            user: user.clone(),
            websocket: metrics.websocket,
            data: metrics.data,
        }
    }

    /// An attempt to connect ended after `took`, well or badly.
    pub(super) fn attempted(&self, took: Duration) {
        self.session.count(self.websocket.sessions, 1);
        self.session.record(self.websocket.connecting, took);
    }

    /// An open connection ended in an unexpected way. It was not refused, so it is not one of the failed connections.
    pub(super) fn lost(&self, error: &str) {
        self.user.fault(error, error);
    }

    pub(super) fn sent(&self) {
        self.session.count(self.websocket.msgs_sent, 1);
    }

    pub(super) fn received(&self) {
        self.session.count(self.websocket.msgs_received, 1);
    }

    pub(super) fn ponged(&self, after: Duration) {
        self.session.record(self.websocket.ping, after);
    }

    pub(super) fn ended(&self, after: Duration) {
        self.session.record(self.websocket.session_duration, after);
    }

    /// Bytes on the socket.
    pub(super) fn moved(&self, (sent, received): (u64, u64)) {
        if sent > 0 {
            self.user.count(self.data.sent, sent);
        }
        if received > 0 {
            self.user.count(self.data.received, received);
        }
    }
}

impl SessionTags {
    fn recorder(&self, program: &Program, user: &Recorder) -> Recorder {
        if !user.reads_tags() {
            return user.clone();
        }
        let mut tags = BTreeMap::new();
        let mut add = |name: &'static str, value: String| {
            if program.has_system_tag(name) {
                tags.insert(name.to_owned(), value);
            }
        };
        let name = self.own.get("name").filter(|_| self.is_named);
        let url = name.unwrap_or(&self.url);
        add("url", url.clone());
        if self.is_named {
            add("name", url.clone());
        }
        if let Some(status) = self.status {
            add("status", status.to_string());
            add("subproto", self.protocol.clone());
        }
        if let Some(ip) = self.ip {
            add("ip", ip.to_string());
        }
        tags.extend(self.own.clone());
        user.with_tags(crate::tags::pairs(&tags))
    }
}
