//! The functions that listen to the events of a stream.

use std::cell::RefCell;

use rquickjs::{
    Function, JsLifetime,
    class::{Trace, Tracer},
};

/// The most functions that listen to one stream.
const MAX_LISTENERS: usize = 10_000;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsLifetime)]
pub(super) enum Kind {
    Data,
    Error,
    End,
    /// Never happens, as in k6.
    Status,
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "data" => Self::Data,
            "error" => Self::Error,
            "end" => Self::End,
            "status" => Self::Status,
            _ => return None,
        })
    }
}

/// Listeners in the order of their registration.
#[derive(Default, JsLifetime)]
pub(super) struct Listeners<'js>(RefCell<Vec<Listener<'js>>>);

#[derive(JsLifetime)]
struct Listener<'js> {
    kind: Kind,
    function: Function<'js>,
}

impl<'js> Listeners<'js> {
    /// Adds a function. False if there are too many.
    pub(super) fn add(&self, kind: Kind, function: Function<'js>) -> bool {
        let mut listeners = self.0.borrow_mut();
        let has_room = listeners.len() < MAX_LISTENERS;
        if has_room {
            listeners.push(Listener { kind, function });
        }
        has_room
    }

    /// The functions for `kind`.
    pub(super) fn of(&self, kind: Kind) -> Vec<Function<'js>> {
        let listeners = self.0.borrow();
        let found = listeners.iter().filter(|listener| listener.kind == kind);
        found.map(|listener| listener.function.clone()).collect()
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
