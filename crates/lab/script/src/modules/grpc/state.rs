//! What a client of a script knows: definitions, and its server.

use std::{
    cell::{Ref, RefCell},
    rc::Rc,
    sync::Arc,
};

use plimsoll_clients::grpc::Channel;
use prost_reflect::MethodDescriptor;
use rquickjs::{Ctx, Exception, Result};

use crate::protobuf::Definitions;

/// The state of a client.
#[derive(Default)]
pub(super) struct State {
    definitions: RefCell<Vec<Arc<Definitions>>>,
    server: RefCell<Option<Server>>,
}

/// A server that a client is connected to.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) channel: Rc<Channel>,
    /// As the script wrote it.
    pub(super) address: String,
}

impl State {
    /// Adds definitions; methods that were loaded before get the new definition.
    pub(super) fn add(&self, definitions: Arc<Definitions>) {
        self.definitions.borrow_mut().push(definitions);
    }

    /// All definitions, the first ones first.
    pub(super) fn definitions(&self) -> Ref<'_, [Arc<Definitions>]> {
        Ref::map(self.definitions.borrow(), Vec::as_slice)
    }

    pub(super) fn replace_server(&self, server: Option<Server>) -> Option<Server> {
        self.server.replace(server)
    }

    /// The server.
    ///
    /// # Errors
    /// The script has not connected.
    pub(super) fn server(&self, ctx: &Ctx<'_>) -> Result<Server> {
        self.connected()
            .ok_or_else(|| Exception::throw_message(ctx, NOT_CONNECTED))
    }

    /// The server, if the script has connected.
    pub(super) fn connected(&self) -> Option<Server> {
        self.server.borrow().clone()
    }

    /// The path and the definition of a method that a script names, with or without the first slash.
    ///
    /// # Errors
    /// For people: there is no such method.
    pub(super) fn method(&self, name: &str) -> std::result::Result<(String, MethodDescriptor), String> {
        if name.is_empty() {
            return Err("method to invoke cannot be empty".to_owned());
        }
        let path = if name.starts_with('/') {
            name.to_owned()
        } else {
            format!("/{name}")
        };
        let definitions = self.definitions.borrow();
        let found = definitions
            .iter()
            .rev()
            .find_map(|one| one.method(&path).cloned());
        match found {
            Some(method) => Ok((path, method)),
            None => Err(format!("method {path:?} not found in file descriptors")),
        }
    }
}

/// The error of a call before `connect`.
pub(super) const NOT_CONNECTED: &str = "no gRPC connection, you must call connect first";
