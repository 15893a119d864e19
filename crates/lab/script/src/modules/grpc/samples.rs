//! The samples of calls.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use plimsoll_clients::grpc::Status;
use plimsoll_grpc::Code;
use plimsoll_load::metrics::Recorder;

use crate::{program::Program, recorders::Recorders, tags};

/// Recorders with the tags of calls, kept because the next one is mostly like the last.
#[derive(Default)]
pub(super) struct Samples(Recorders<Like>);

/// The tags of a call that are known when it begins.
#[derive(Debug, Default)]
pub(super) struct CallTags {
    /// Address and path; empty for a call that the script did not name.
    pub(super) url: String,
    /// `/package.Service/Method`.
    pub(super) path: String,
    /// The script's own tags.
    pub(super) own: BTreeMap<String, String>,
    /// Whether the virtual user has a tag `name`.
    pub(super) has_name: bool,
}

/// The values that decide about the tags of a call without tags of its own.
#[derive(PartialEq)]
struct Like {
    url: String,
    status: Option<Code>,
    has_name: bool,
}

impl Samples {
    /// Records a call that has ended.
    pub(super) fn ended(
        &self,
        program: &Program,
        base: &Recorder,
        call: &CallTags,
        (remote, failure): (Option<IpAddr>, Option<&Status>),
        took: Duration,
    ) {
        let code = failure.map_or(Code::Ok, |failure| failure.code);
        let recorder = self.recorder(program, base, call, Some(code), remote);
        recorder.record(program.metrics().grpc.req_duration, took);
        if let Some(failure) = failure.filter(|failure| is_fault(failure.code)) {
            let name = failure.code.name();
            let cause = format!("gRPC call failed with {name}: {}", failure.message);
            base.fault(&cause, &format!("{} failed: {failure}", call.path));
        }
    }

    /// A recorder with the tags of a call; `status` once it has ended.
    pub(super) fn recorder(
        &self,
        program: &Program,
        base: &Recorder,
        call: &CallTags,
        status: Option<Code>,
        remote: Option<IpAddr>,
    ) -> Recorder {
        if !base.reads_tags() {
            return base.clone();
        }
        if !call.own.is_empty() || program.has_system_tag("ip") {
            return with_tags(program, base, call, status, remote);
        }
        let like = Like {
            url: call.url.clone(),
            status,
            has_name: call.has_name,
        };
        if let Some(known) = self.0.find(base, &like) {
            return known;
        }
        let recorder = with_tags(program, base, call, status, remote);
        self.0.keep(base, like, &recorder);
        recorder
    }
}

/// Whether a code says that the server or the way to it is in trouble. The other codes are answers of the application.
fn is_fault(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::ResourceExhausted
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}

fn with_tags(
    program: &Program,
    base: &Recorder,
    call: &CallTags,
    status: Option<Code>,
    remote: Option<IpAddr>,
) -> Recorder {
    let mut system = Vec::new();
    let mut add = |name: &'static str, value: String| {
        if program.has_system_tag(name) {
            system.push((name, value));
        }
    };
    if !call.url.is_empty() {
        let (service, method) = call.path[1..].split_once('/').unwrap_or_default();
        add("url", call.url.clone());
        add("service", service.to_owned());
        add("method", method.to_owned());
        if !call.has_name && !call.own.contains_key("name") {
            add("name", call.path.clone());
        }
    }
    if let Some(status) = status {
        add("status", (status as u8).to_string());
    }
    if let Some(remote) = remote {
        add("ip", remote.to_string());
    }
    let system = system.iter().map(|(name, value)| (*name, value.as_str()));
    base.with_tags(tags::pairs(&call.own).chain(system))
}
