//! The data of one virtual user's calls: bytes on sockets, and recorders.

use std::{cell::Cell, rc::Rc};

use plimsoll_clients::dial::Traffic;
use plimsoll_load::metrics::{Recorder, built_in::Data};
use rquickjs::{Ctx, JsLifetime, Result};

use super::samples::Samples;
use crate::{context_data, host::Host};

/// The calls of one virtual user.
pub(super) struct Session {
    pub(super) traffic: Rc<Traffic>,
    pub(super) samples: Samples,
    /// Whether the end of this iteration has been seen to.
    is_entered: Cell<bool>,
}

#[derive(JsLifetime)]
struct OfContext(Rc<Session>);

impl Session {
    /// Prepares a context, once.
    pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
        let session = Rc::new(Self {
            traffic: Rc::default(),
            samples: Samples::default(),
            is_entered: Cell::new(false),
        });
        context_data::store(ctx, OfContext(session))
    }

    /// The session of a context in which the module was built.
    pub(super) fn of(ctx: &Ctx<'_>) -> Rc<Self> {
        let session = ctx.userdata::<OfContext>();
        let session = session.expect("the functions that ask were made by the module's building");
        Rc::clone(&session.0)
    }

    /// Sees to the end of the iteration, and gives the recorder of the moment.
    ///
    /// # Errors
    /// In the init context.
    pub(super) fn enter(self: &Rc<Self>, ctx: &Ctx<'_>, host: &Host) -> Result<Recorder> {
        let recorder = host.recorder(ctx, "k6/net/grpc")?;
        if !self.is_entered.replace(true) {
            let (session, recorder, data) = (Rc::clone(self), recorder.clone(), host.metrics().data);
            host.at_end(move || {
                session.is_entered.set(false);
                session.count_bytes(&recorder, &data);
            });
        }
        Ok(recorder)
    }

    /// Records the bytes that went over connections since the last call.
    pub(super) fn count_bytes(&self, recorder: &Recorder, data: &Data) {
        let (sent, received) = self.traffic.take();
        if sent > 0 {
            recorder.count(data.sent, sent);
        }
        if received > 0 {
            recorder.count(data.received, received);
        }
    }
}
