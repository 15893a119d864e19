//! The `socket` that the callback of `ws.connect` gets.

use std::{cell::Cell, rc::Rc};

use plimsoll_websocket::{CloseCode, Opcode};
use rquickjs::{
    Coerced, Ctx, Exception, Function, JsLifetime, Object, Result, Value,
    class::{Trace, Tracer},
    function::{IntoArgs, Opt},
};

use super::{
    handlers::{Handlers, On},
    timers::Timers,
};
use crate::{
    arguments::{Text, utf8},
    bytes,
    host::Host,
    members::class_members,
    websocket::Session,
};

/// The code of a socket that is closed without one, as in k6.
const DEFAULT_CODE: u16 = 1001;

/// One session, as the script sees it.
#[derive(JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct Socket<'js> {
    pub(super) session: Rc<Session>,
    pub(super) handlers: Handlers<'js>,
    pub(super) timers: Timers<'js>,
    is_closed: Cell<bool>,
}

impl<'js> Trace<'js> for Socket<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        self.handlers.trace(tracer);
        self.timers.trace(tracer);
    }
}

class_members![Socket<'js>:
    method c"on" => on,
    method c"send" => send,
    method c"sendBinary" => send_binary,
    method c"ping" => ping,
    method c"setTimeout" => set_timeout,
    method c"setInterval" => set_interval,
    method c"close" => close,
];

impl<'js> Socket<'js> {
    /// Adds a handler. A value that is not a function is ignored, as in k6.
    fn on(&self, ctx: Ctx<'js>, event: Text, handler: Opt<Value<'js>>) -> Result<()> {
        match handler.0.and_then(Value::into_function) {
            Some(handler) => self.handlers.add(&ctx, &event.0, handler),
            None => Ok(()),
        }
    }

    fn send(&self, ctx: Ctx<'js>, message: Value<'js>) -> Result<()> {
        let text = utf8(&message.get::<Coerced<rquickjs::String<'js>>>()?.0)?;
        self.transmit(&ctx, Opcode::Text, text.as_bytes())
    }

    fn send_binary(&self, ctx: Ctx<'js>, message: Opt<Value<'js>>) -> Result<()> {
        let Some(message) = message.0 else {
            return Err(Exception::throw_type(
                &ctx,
                "missing argument, expected ArrayBuffer",
            ));
        };
        let Some(bytes) = bytes::copy(&message) else {
            let text = format!(
                "expected ArrayBuffer as argument, received: {}; text goes out with send()",
                constructor_of(&message)
            );
            return Err(Exception::throw_type(&ctx, &text));
        };
        self.transmit(&ctx, Opcode::Binary, &bytes)
    }

    fn ping(&self, ctx: Ctx<'js>) -> Result<()> {
        match self.session.ping() {
            Ok(()) => Ok(()),
            Err(error) => self.report(&ctx, &error.to_string()),
        }
    }

    fn set_timeout(&self, ctx: Ctx<'js>, function: Function<'js>, millis: Opt<Coerced<f64>>) -> Result<()> {
        self.timers
            .add(&ctx, function, millis.0.map_or(0.0, |millis| millis.0), false)
    }

    fn set_interval(&self, ctx: Ctx<'js>, function: Function<'js>, millis: Opt<Coerced<f64>>) -> Result<()> {
        self.timers
            .add(&ctx, function, millis.0.map_or(0.0, |millis| millis.0), true)
    }

    fn close(&self, ctx: Ctx<'js>, code: Opt<Value<'js>>) -> Result<()> {
        let code = code.0.filter(|code| !code.is_undefined());
        let number = code
            .as_ref()
            .map_or(Some(f64::from(DEFAULT_CODE)), Value::as_number);
        let code = number
            .and_then(|number| CloseCode::new(number as u16).filter(|code| f64::from(code.get()) == number));
        let Some(code) = code else {
            let text = "the close code must be a number that may be sent: 1000 to 1003, 1007 to 1014 or 3000 to 4999";
            return Err(Exception::throw_range(&ctx, text));
        };
        self.shut(&ctx, code)
    }
}

impl<'js> Socket<'js> {
    pub(super) fn new(session: Rc<Session>) -> Self {
        Self {
            session,
            handlers: Handlers::default(),
            timers: Timers::default(),
            is_closed: Cell::new(false),
        }
    }

    /// Whether the script has closed it, or has been told of its end.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Sends Close and reports the end to the script, once.
    pub(super) fn shut(&self, ctx: &Ctx<'js>, code: CloseCode) -> Result<()> {
        self.session.close(code, "");
        self.end(ctx, code.get())
    }

    /// Tells the script of the end; once.
    pub(super) fn end(&self, ctx: &Ctx<'js>, code: u16) -> Result<()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        self.call(ctx, On::Close, (code,))
    }

    /// Tells the script of something unexpected.
    pub(super) fn report(&self, ctx: &Ctx<'js>, error: &str) -> Result<()> {
        if !self.handlers.has(On::Error) {
            return Ok(());
        }
        self.call(ctx, On::Error, (error_object(ctx, error)?,))
    }

    pub(super) fn call<A: IntoArgs<'js> + Clone>(&self, ctx: &Ctx<'js>, on: On, arguments: A) -> Result<()> {
        self.handlers.call(ctx, on, arguments)
    }

    /// Sends a message, and waits while the socket is full.
    fn transmit(&self, ctx: &Ctx<'js>, opcode: Opcode, payload: &[u8]) -> Result<()> {
        if let Err(error) = self.session.send(opcode, payload) {
            return self.report(ctx, &error.to_string());
        }
        if self.session.n_unsent_bytes() > 0 {
            Host::of(ctx).park(ctx, self.session.sent_but(0))?;
        }
        Ok(())
    }
}

/// An Error whose text is also what its method `error()` returns, as of Go's errors in k6.
fn error_object<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Object<'js>> {
    let object = Exception::from_message(ctx.clone(), text)?.into_object();
    let text = text.to_owned();
    object.set("error", Function::new(ctx.clone(), move || text.clone())?)?;
    Ok(object)
}

/// The name of the constructor of a value, for people.
fn constructor_of(value: &Value<'_>) -> String {
    let name = value.as_object().and_then(|object| {
        let constructor: Object<'_> = object.get("constructor").ok()?;
        constructor.get::<_, String>("name").ok()
    });
    name.unwrap_or_else(|| value.type_name().to_owned())
}
