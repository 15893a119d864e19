//! The requests of `proto/rpc.proto`, borrowed from the session: their only copy is the encoded bytes.

mod protobuf;

use std::borrow::Cow;

use plimsoll_server::application::Entries;
use serde::{Serialize, de::DeserializeOwned};

use self::protobuf::{map, map_len, nested, nested_len, string, string_len, strings, strings_len};
use crate::proto::{self, Method};

/// A request to an application. Serialises to the JSON of RPC over HTTP.
pub(crate) trait Request: Serialize {
    /// The application's reply.
    type Reply: Reply;

    /// Length in protocol buffers.
    fn len(&self) -> usize;

    /// Appends the request in protocol buffers: exactly [`Request::len`] bytes.
    fn write(&self, out: &mut Vec<u8>);
}

/// An application's reply.
pub(crate) trait Reply: prost::Message + Default + DeserializeOwned + 'static {
    /// The method that it answers.
    const METHOD: Method;
}

/// `Env`
#[derive(Debug, Serialize)]
pub(crate) struct Env<'a> {
    pub(crate) url: &'a str,
    pub(crate) headers: &'a Entries,
    pub(crate) cstate: &'a Entries,
    pub(crate) istate: Cow<'a, Entries>,
}

/// `ConnectionRequest`
#[derive(Debug, Serialize)]
pub(crate) struct ConnectionRequest<'a> {
    pub(crate) env: Env<'a>,
}

/// `CommandMessage`
#[derive(Debug, Serialize)]
pub(crate) struct CommandMessage<'a> {
    pub(crate) command: &'static str,
    pub(crate) identifier: &'a str,
    pub(crate) connection_identifiers: &'a str,
    pub(crate) data: &'a str,
    pub(crate) env: Env<'a>,
}

/// `DisconnectRequest`
#[derive(Debug, Serialize)]
pub(crate) struct DisconnectRequest<'a> {
    pub(crate) identifiers: &'a str,
    pub(crate) subscriptions: &'a [Box<str>],
    pub(crate) env: Env<'a>,
}

impl Env<'_> {
    fn len(&self) -> usize {
        string_len(self.url) + map_len(self.headers) + map_len(self.cstate) + map_len(&self.istate)
    }

    fn write(&self, out: &mut Vec<u8>) {
        string(1, self.url, out);
        map(2, self.headers, out);
        map(3, self.cstate, out);
        map(4, &self.istate, out);
    }

    fn nested_len(&self) -> usize {
        nested_len(self.len())
    }

    fn write_nested(&self, tag: u8, out: &mut Vec<u8>) {
        nested(tag, self.len(), out);
        self.write(out);
    }
}

impl Request for ConnectionRequest<'_> {
    type Reply = proto::ConnectionResponse;

    fn len(&self) -> usize {
        self.env.nested_len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.env.write_nested(3, out);
    }
}

impl Request for CommandMessage<'_> {
    type Reply = proto::CommandResponse;

    fn len(&self) -> usize {
        string_len(self.command)
            + string_len(self.identifier)
            + string_len(self.connection_identifiers)
            + string_len(self.data)
            + self.env.nested_len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        string(1, self.command, out);
        string(2, self.identifier, out);
        string(3, self.connection_identifiers, out);
        string(4, self.data, out);
        self.env.write_nested(5, out);
    }
}

impl Request for DisconnectRequest<'_> {
    type Reply = proto::DisconnectResponse;

    fn len(&self) -> usize {
        string_len(self.identifiers) + strings_len(self.subscriptions) + self.env.nested_len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        string(1, self.identifiers, out);
        strings(2, self.subscriptions, out);
        self.env.write_nested(5, out);
    }
}

impl Reply for proto::ConnectionResponse {
    const METHOD: Method = Method::Connect;
}

impl Reply for proto::CommandResponse {
    const METHOD: Method = Method::Command;
}

impl Reply for proto::DisconnectResponse {
    const METHOD: Method = Method::Disconnect;
}

#[cfg(test)]
mod tests;
