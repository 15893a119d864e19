//! The script's functions that a client calls while the script waits.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use plimsoll_clients::cable::{
    Ending,
    session::{Channel, Event, Session},
};
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value, function::IntoArgs};

use super::{log::LogLevel, message};
use crate::{ScriptError, host::Host, interlude::Interlude, or_null::OrNull};

type Callback = Persistent<Function<'static>>;

/// The functions of one client. They are forgotten with the iteration.
pub(super) struct Observers {
    session: Session,
    log: LogLevel,
    on_message: RefCell<Vec<(Channel, Callback)>>,
    on_presence: RefCell<Vec<(Channel, Callback)>>,
    on_disconnect: RefCell<Vec<Callback>>,
    on_close: RefCell<Vec<Callback>>,
    /// Whether the end of the session is still to be told.
    is_end_untold: Cell<bool>,
    /// Whether the client's iteration is over.
    is_over: Cell<bool>,
}

impl Observers {
    pub(super) fn new(host: &Host, session: Session, log: LogLevel) -> Rc<Self> {
        let observers = Rc::new(Self {
            session,
            log,
            on_message: RefCell::default(),
            on_presence: RefCell::default(),
            on_disconnect: RefCell::default(),
            on_close: RefCell::default(),
            is_end_untold: Cell::new(false),
            is_over: Cell::new(false),
        });
        host.add_interlude(Rc::clone(&observers) as Rc<dyn Interlude>);
        observers
    }

    pub(super) fn on_message<'js>(&self, ctx: &Ctx<'js>, channel: &Channel, function: Function<'js>) {
        if let Some(callback) = self.callback(ctx, function) {
            channel.observe();
            self.on_message.borrow_mut().push((channel.clone(), callback));
        }
    }

    pub(super) fn on_presence<'js>(&self, ctx: &Ctx<'js>, channel: &Channel, function: Function<'js>) {
        if let Some(callback) = self.callback(ctx, function) {
            channel.observe_presence();
            self.on_presence.borrow_mut().push((channel.clone(), callback));
        }
    }

    pub(super) fn on_disconnect<'js>(&self, ctx: &Ctx<'js>, function: Function<'js>) {
        self.is_end_untold.set(true);
        self.on_disconnect
            .borrow_mut()
            .extend(self.callback(ctx, function));
    }

    pub(super) fn on_close<'js>(&self, ctx: &Ctx<'js>, function: Function<'js>) {
        self.is_end_untold.set(true);
        self.on_close.borrow_mut().extend(self.callback(ctx, function));
    }

    /// A client of an iteration that is over has nothing to call back for.
    fn callback<'js>(&self, ctx: &Ctx<'js>, function: Function<'js>) -> Option<Callback> {
        (!self.is_over.get()).then(|| Persistent::save(ctx, function))
    }

    fn tell_event(&self, ctx: &Ctx<'_>, event: Event) -> Result<()> {
        let (observers, channel, message) = match &event {
            Event::Message(channel, message) => (&self.on_message, channel, message),
            Event::Presence(channel, message) => (&self.on_presence, channel, message),
        };
        let callbacks = observers.borrow().clone();
        let callbacks = callbacks.into_iter().filter(|(observed, _)| observed.is(channel));
        let value = message::to_js(ctx, message)?;
        for (_, callback) in callbacks {
            self.call(ctx, callback, (value.clone(),))?;
        }
        if let Event::Message(channel, message) = event {
            channel.keep(message);
        }
        Ok(())
    }

    fn tell_end(&self, ctx: &Ctx<'_>, ending: &Ending) -> Result<()> {
        self.is_end_untold.set(false);
        let told = Object::new(ctx.clone())?;
        told.set("message", ending.to_string())?;
        told.set("code", OrNull(self.session.close_code()))?;
        if let Ending::Disconnected { reason, reconnect } = ending {
            told.set("reason", reason.as_str())?;
            told.set("reconnect", *reconnect)?;
            for callback in self.on_disconnect.take() {
                self.call(ctx, callback, (told.clone(),))?;
            }
        }
        for callback in self.on_close.take() {
            self.call(ctx, callback, (told.clone(),))?;
        }
        Ok(())
    }

    /// The script cannot catch an exception in a callback, so the exception goes to the log.
    fn call<'js>(&self, ctx: &Ctx<'js>, callback: Callback, arguments: impl IntoArgs<'js>) -> Result<()> {
        let host = Host::of(ctx);
        match callback.restore(ctx)?.call::<_, Value<'js>>(arguments) {
            Err(error) if host.is_interrupted() => Err(error),
            Err(error) => {
                let error = ScriptError::caught(ctx, &error, &host.program);
                self.log
                    .error(&format!("in a callback of a cable client: {error}"));
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// The session's end, once its reader has seen all of it.
    fn untold_ending(&self) -> Option<Ending> {
        let ending = self.is_end_untold.get().then(|| self.session.ending())??;
        (ending != Ending::Left && self.session.is_over()).then_some(ending)
    }
}

impl Interlude for Observers {
    fn is_due(&self) -> bool {
        self.session.has_events() || self.untold_ending().is_some()
    }

    fn run(&self, ctx: &Ctx<'_>) -> Result<()> {
        while let Some(event) = self.session.next_event() {
            self.tell_event(ctx, event)?;
        }
        match self.untold_ending() {
            Some(ending) => self.tell_end(ctx, &ending),
            None => Ok(()),
        }
    }

    fn end(&self) {
        self.is_over.set(true);
        self.on_message.take();
        self.on_presence.take();
        self.on_disconnect.take();
        self.on_close.take();
    }
}
