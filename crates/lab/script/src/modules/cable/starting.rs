//! From a session to the client that `cable.connect` returns.

use std::{cell::Cell, rc::Rc};

use plimsoll_clients::cable::{Ending, session::Reader};

use super::{
    client::Client, connecting::Connected, log::LogLevel, meter::Meter, observers::Observers,
    options::ConnectOptions, shared::Shared,
};
use crate::host::Host;

/// Lets the session read in the background.
pub(super) fn start(host: &Host, connected: Connected, options: &ConnectOptions) -> Client {
    let Connected {
        session,
        reader,
        meter,
    } = connected;
    host.background(read(reader, Rc::clone(&meter), options.log));
    let observers = Observers::new(host, session.clone(), options.log);
    let shared = Shared {
        session,
        meter,
        observers,
        receive_timeout: options.receive_timeout,
        throws: options.throws,
        log: options.log,
        has_warned_of_stall: Cell::new(false),
    };
    Client {
        shared: Rc::new(shared),
    }
}

/// Reads messages while the script waits. Dropped with the iteration, which closes the socket.
async fn read(mut reader: Reader, meter: Rc<Meter>, log: LogLevel) {
    let meter = EndsWithReading(meter);
    loop {
        let read = reader.read().await;
        meter.0.record();
        match read {
            Ok(()) => {}
            Err(Ending::Left) => return,
            // The base protocol's clients treat it as a matter of course.
            Err(ending @ Ending::Disconnected { .. }) => return log.debug(&ending.to_string()),
            Err(ending) => return log.error(&ending.to_string()),
        }
    }
}

struct EndsWithReading(Rc<Meter>);

impl Drop for EndsWithReading {
    fn drop(&mut self) {
        self.0.end();
    }
}
