//! The listeners of a WebSocket's events.

use std::cell::RefCell;

use rquickjs::{
    Function, JsLifetime,
    class::{Trace, Tracer},
};

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsLifetime)]
pub(super) enum Kind {
    Open,
    Message,
    Error,
    Close,
    Ping,
    Pong,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::Open,
        Self::Message,
        Self::Error,
        Self::Close,
        Self::Ping,
        Self::Pong,
    ];

    /// The type of its events.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Message => "message",
            Self::Error => "error",
            Self::Close => "close",
            Self::Ping => "ping",
            Self::Pong => "pong",
        }
    }

    /// The property with the function for it.
    pub(super) fn property(self) -> &'static str {
        match self {
            Self::Open => "onopen",
            Self::Message => "onmessage",
            Self::Error => "onerror",
            Self::Close => "onclose",
            Self::Ping => "onping",
            Self::Pong => "onpong",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The listeners. A function assigned to a property runs before those added with `addEventListener`, as in k6.
#[derive(Default, JsLifetime)]
pub(super) struct Listeners<'js>(RefCell<Vec<Listener<'js>>>);

#[derive(Clone, JsLifetime)]
struct Listener<'js> {
    kind: Kind,
    is_property: bool,
    function: Function<'js>,
}

impl<'js> Listeners<'js> {
    /// Adds a function, unless it was added before.
    pub(super) fn add(&self, kind: Kind, function: Function<'js>) {
        let mut listeners = self.0.borrow_mut();
        let is_there =
            |other: &Listener<'js>| other.kind == kind && !other.is_property && other.function == function;
        if !listeners.iter().any(is_there) {
            listeners.push(Listener {
                kind,
                is_property: false,
                function,
            });
        }
    }

    /// Takes a function away.
    pub(super) fn remove(&self, kind: Kind, function: &Function<'js>) {
        self.0
            .borrow_mut()
            .retain(|other| other.is_property || other.kind != kind || other.function != *function);
    }

    /// The functions for `kind`, in the order in which they are called.
    pub(super) fn of(&self, kind: Kind) -> Vec<Function<'js>> {
        let listeners = self.0.borrow();
        let part = |is_property| {
            let listeners = listeners.iter();
            listeners.filter(move |one| one.kind == kind && one.is_property == is_property)
        };
        let all = part(true).chain(part(false));
        all.map(|listener| listener.function.clone()).collect()
    }

    pub(super) fn property(&self, kind: Kind) -> Option<Function<'js>> {
        let listeners = self.0.borrow();
        let mut found = listeners.iter().filter(|one| one.is_property && one.kind == kind);
        found.next().map(|listener| listener.function.clone())
    }

    pub(super) fn set_property(&self, kind: Kind, function: Option<Function<'js>>) {
        let mut listeners = self.0.borrow_mut();
        listeners.retain(|one| !one.is_property || one.kind != kind);
        listeners.extend(function.map(|function| Listener {
            kind,
            is_property: true,
            function,
        }));
    }
}

impl<'js> Trace<'js> for Listeners<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // A function that is being added is held by the script, too.
        if let Ok(listeners) = self.0.try_borrow() {
            listeners
                .iter()
                .for_each(|listener| listener.function.trace(tracer));
        }
    }
}
