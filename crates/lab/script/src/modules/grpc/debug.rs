//! `--http-debug`: calls in the log, part by part, as k6 does it.

use std::{fmt::Write as _, rc::Rc};

use plimsoll_clients::grpc::{Metadata, Status};
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};

use super::state::State;
use crate::{
    modules::http::Debug,
    program::Program,
    protobuf::{Types, write},
};

/// Writes one call to the log.
pub(super) struct CallLog {
    detail: Debug,
    method: MethodDescriptor,
    state: Rc<State>,
}

impl CallLog {
    /// `None` unless the run wants it.
    pub(super) fn of(program: &Program, method: &MethodDescriptor, state: &Rc<State>) -> Option<Self> {
        Some(Self {
            detail: Debug::of(program)?,
            method: method.clone(),
            state: Rc::clone(state),
        })
    }

    /// The beginning of the request.
    pub(super) fn sent_head(&self, path: &str, address: &str, metadata: &Metadata) {
        let fields = fields(metadata);
        tracing::info!(target: "http", "Out Header:\nFull Method: {path}\nRemote Address: {address}\n{fields}");
    }

    /// A message of the script, encoded.
    pub(super) fn sent(&self, message: &[u8]) {
        self.show("Out", message, &self.method.input());
    }

    /// The beginning of the answer; nothing for an answer without one.
    pub(super) fn received_head(&self, metadata: &Metadata) {
        if metadata.iter().next().is_some() {
            tracing::info!(target: "http", "In Header:\n{}", fields(metadata));
        }
    }

    /// A message of the server, encoded.
    pub(super) fn received(&self, message: &[u8]) {
        self.show("In", message, &self.method.output());
    }

    /// The end of the call.
    pub(super) fn ended(&self, trailers: &Metadata, failure: Option<&Status>) {
        let status = failure.map_or_else(|| "OK".to_owned(), Status::to_string);
        tracing::info!(target: "http", "In Trailer:\n{}Status: {status}", fields(trailers));
    }

    fn show(&self, way: &str, message: &[u8], kind: &MessageDescriptor) {
        if self.detail != Debug::Full {
            return;
        }
        let decoded = DynamicMessage::decode(kind.clone(), message).map_err(|error| error.to_string());
        let json = decoded.and_then(|message| {
            write(&message, Types(&self.state.definitions())).map_err(|error| error.to_string())
        });
        let shown = json.unwrap_or_else(|error| format!("not readable: {error}"));
        tracing::info!(target: "http", "{way} Payload:\nLength: {}\n{shown}", message.len());
    }
}

fn fields(metadata: &Metadata) -> String {
    let mut text = String::new();
    for (name, value) in metadata.iter() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {}", String::from_utf8_lossy(value));
    }
    text
}
