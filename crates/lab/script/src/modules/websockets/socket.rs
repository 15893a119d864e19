//! The class `WebSocket`.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use plimsoll_websocket::{CloseCode, Opcode};
use rquickjs::{
    Class, Coerced, Ctx, Exception, FromJs as _, JsLifetime, Result, Value,
    class::{Trace, Tracer},
    function::Opt,
};

use super::{
    blob::Blob,
    listeners::{Kind, Listeners},
};
use crate::{
    arguments::utf8,
    bytes,
    host::Host,
    websocket::{Opened, Session},
};

/// A script that sends while more than this waits for the socket has to wait, too.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// The longest reason of a Close frame (RFC 6455 §5.5: a control frame has 125 bytes, and 2 of them are the code).
const MAX_REASON_BYTES: usize = 123;

/// The state of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsLifetime)]
pub(super) enum ReadyState {
    Connecting = 0,
    Open = 1,
    Closing = 2,
    Closed = 3,
}

impl ReadyState {
    pub(super) const ALL: [Self; 4] = [Self::Connecting, Self::Open, Self::Closing, Self::Closed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connecting => "CONNECTING",
            Self::Open => "OPEN",
            Self::Closing => "CLOSING",
            Self::Closed => "CLOSED",
        }
    }
}

/// One WebSocket, as the script sees it.
#[derive(JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct WebSocket<'js> {
    pub(super) session: Rc<Session>,
    pub(super) listeners: Listeners<'js>,
    url: String,
    protocol: RefCell<String>,
    is_deflated: Cell<bool>,
    state: Cell<ReadyState>,
    /// Whether binary messages come as ArrayBuffers, and not as Blobs.
    wants_buffers: Cell<bool>,
    /// The code and the reason to send once the connection is open: the script closed it before.
    farewell: RefCell<Option<(u16, String)>>,
}

impl<'js> Trace<'js> for WebSocket<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        self.listeners.trace(tracer);
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl<'js> WebSocket<'js> {
    #[qjs(get, rename = "url", enumerable)]
    fn get_url(&self) -> &str {
        &self.url
    }

    #[qjs(get, rename = "readyState", enumerable)]
    fn get_ready_state(&self) -> u8 {
        self.state.get() as u8
    }

    #[qjs(get, rename = "bufferedAmount", enumerable)]
    fn get_buffered_amount(&self) -> usize {
        self.session.n_unsent_bytes()
    }

    #[qjs(get, rename = "extensions", enumerable)]
    fn get_extensions(&self) -> Vec<&'static str> {
        self.is_deflated
            .get()
            .then_some("permessage-deflate")
            .into_iter()
            .collect()
    }

    #[qjs(get, rename = "protocol", enumerable)]
    fn get_protocol(&self) -> String {
        self.protocol.borrow().clone()
    }

    #[qjs(get, rename = "binaryType", enumerable)]
    fn get_binary_type(&self) -> &'static str {
        if self.wants_buffers.get() {
            "arraybuffer"
        } else {
            "blob"
        }
    }

    #[qjs(set, rename = "binaryType")]
    fn set_binary_type(&self, ctx: Ctx<'js>, value: Coerced<String>) -> Result<()> {
        self.wants_buffers.set(match value.0.as_str() {
            "arraybuffer" => true,
            "blob" => false,
            other => {
                let text = format!(
                    "unknown binaryType {other}, the supported ones are \"blob\" and \"arraybuffer\""
                );
                return Err(Exception::throw_message(&ctx, &text));
            }
        });
        Ok(())
    }

    fn add_event_listener(
        &self,
        ctx: Ctx<'js>,
        name: Coerced<String>,
        listener: Opt<Value<'js>>,
    ) -> Result<()> {
        let Some(kind) = Kind::of(&name.0) else {
            tracing::warn!("can't add event handler: unknown event type: {}", name.0);
            return Ok(());
        };
        let Some(function) = listener.0.and_then(Value::into_function) else {
            let text = format!("handler for event type \"{}\" isn't a callable function", name.0);
            return Err(Exception::throw_type(&ctx, &text));
        };
        self.listeners.add(kind, function);
        Ok(())
    }

    fn remove_event_listener(&self, name: Coerced<String>, listener: Opt<Value<'js>>) {
        if let Some(kind) = Kind::of(&name.0)
            && let Some(function) = listener.0.and_then(Value::into_function)
        {
            self.listeners.remove(kind, &function);
        }
    }

    fn send(&self, ctx: Ctx<'js>, data: Opt<Value<'js>>) -> Result<()> {
        self.check_open(&ctx)?;
        let data = data.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        if let Some(text) = data.as_string() {
            return self.transmit(&ctx, Opcode::Text, utf8(text)?.as_bytes());
        }
        if let Some(blob) = data.as_object().and_then(Class::<Blob<'_>>::from_object) {
            let bytes = blob.borrow().copy();
            return self.transmit(&ctx, Opcode::Binary, &bytes);
        }
        match bytes::copy(&data) {
            Some(bytes) => self.transmit(&ctx, Opcode::Binary, &bytes),
            None => {
                let text = format!(
                    "unsupported send type {}; expected a string, an ArrayBuffer, a typed array or a Blob",
                    data.type_name()
                );
                Err(Exception::throw_type(&ctx, &text))
            }
        }
    }

    fn ping(&self, ctx: Ctx<'js>) -> Result<()> {
        self.check_open(&ctx)?;
        if self.session.ping().is_ok() {
            self.session.count_sent();
        }
        Ok(())
    }

    fn close(&self, ctx: Ctx<'js>, code: Opt<Value<'js>>, reason: Opt<Coerced<String>>) -> Result<()> {
        let code = code.0.filter(|code| !code.is_undefined());
        let number = code.map_or(Ok(1000.0), |code| {
            Coerced::<f64>::from_js(&ctx, code).map(|code| code.0)
        })?;
        if number != 1000.0 && !(3000.0..5000.0).contains(&number) {
            let text = format!(
                "InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or \
                 between 3000 and 4999. {number} is neither"
            );
            return Err(Exception::throw_range(&ctx, &text));
        }
        let reason = reason.0.map(|reason| reason.0).unwrap_or_default();
        if reason.len() > MAX_REASON_BYTES {
            let text = format!(
                "SyntaxError: Failed to execute 'close' on 'WebSocket': The message must not be greater than \
                 {MAX_REASON_BYTES} bytes"
            );
            return Err(Exception::throw_message(&ctx, &text));
        }
        match self.state.get() {
            ReadyState::Open => self.say_close(number as u16, &reason),
            ReadyState::Connecting => drop(self.farewell.replace(Some((number as u16, reason)))),
            ReadyState::Closing | ReadyState::Closed => return Ok(()),
        }
        self.state.set(ReadyState::Closing);
        Ok(())
    }
}

impl<'js> WebSocket<'js> {
    /// A socket that is connecting.
    pub(super) fn new(session: Rc<Session>, url: String) -> Self {
        Self {
            session,
            listeners: Listeners::default(),
            url,
            protocol: RefCell::default(),
            is_deflated: Cell::new(false),
            state: Cell::new(ReadyState::Connecting),
            wants_buffers: Cell::new(false),
            farewell: RefCell::default(),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn state(&self) -> ReadyState {
        self.state.get()
    }

    pub(super) fn wants_buffers(&self) -> bool {
        self.wants_buffers.get()
    }

    /// The connection stands. Returns whether the script still wants it.
    pub(super) fn open(&self, opened: Opened) -> bool {
        self.protocol.replace(opened.protocol);
        self.is_deflated.set(opened.is_deflated);
        if let Some((code, reason)) = self.farewell.take() {
            self.say_close(code, &reason);
            return false;
        }
        self.state.set(ReadyState::Open);
        true
    }

    /// The connection is over.
    pub(super) fn end(&self) {
        self.state.set(ReadyState::Closed);
        self.session.finish();
    }

    fn say_close(&self, code: u16, reason: &str) {
        let code = CloseCode::new(code).unwrap_or(CloseCode::NORMAL);
        self.session.close(code, reason);
        self.session.count_sent();
    }

    fn check_open(&self, ctx: &Ctx<'js>) -> Result<()> {
        if self.state.get() == ReadyState::Open {
            return Ok(());
        }
        let text = format!(
            "InvalidStateError: the WebSocket is {} and not OPEN; send from its event `open` on, until it is closed",
            self.state.get().name()
        );
        let error = Exception::from_message(ctx.clone(), &text)?;
        error.as_object().set("name", "InvalidStateError")?;
        Err(error.throw())
    }

    /// Sends; a script that is far ahead of its socket waits for it. A connection that has just ended tells so in its
    /// event `close`.
    fn transmit(&self, ctx: &Ctx<'js>, opcode: Opcode, payload: &[u8]) -> Result<()> {
        if self.session.send(opcode, payload).is_ok() && self.session.n_unsent_bytes() > MAX_UNSENT_BYTES {
            Host::of(ctx).park(ctx, self.session.sent_but(MAX_UNSENT_BYTES))?;
        }
        Ok(())
    }
}
