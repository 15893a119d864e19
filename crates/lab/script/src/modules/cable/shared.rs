//! The common data of a client and its channels.

use std::{cell::Cell, rc::Rc, time::Duration};

use plimsoll_clients::cable::session::Session;
use rquickjs::{Ctx, Exception, Result};

use super::{log::LogLevel, meter::Meter, observers::Observers};

/// The common data of a client and its channels.
pub(super) struct Shared {
    pub(super) session: Session,
    pub(super) meter: Rc<Meter>,
    pub(super) observers: Rc<Observers>,
    pub(super) receive_timeout: Duration,
    pub(super) throws: bool,
    pub(super) log: LogLevel,
    pub(super) has_warned_of_stall: Cell<bool>,
}

impl Shared {
    /// Warns once that the script left received messages waiting.
    pub(super) fn warn_of_stall(&self) {
        if self.session.totals().n_stalls > 0 && !self.has_warned_of_stall.replace(true) {
            self.log.warn(
                "the client stopped reading the socket for a while because 2,048 messages of a channel waited for \
                 the script; receive() them, or call channel.ignoreReads() or channel.countOnly()",
            );
        }
    }

    /// Something came to nothing: an exception with `throw`, otherwise a line in the log.
    ///
    /// # Errors
    /// With `throw`.
    pub(super) fn failed(&self, ctx: &Ctx<'_>, text: &str) -> Result<()> {
        if self.throws {
            return Err(Exception::throw_message(ctx, text));
        }
        self.log.error(text);
        Ok(())
    }
}
