//! How a WebSocket of a script begins: it is dialled, and read in the background from then on.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Instant,
};

use plimsoll_load::metrics::Recorder;

use super::{Session, reader::Reader};
use crate::{
    host::Host,
    network::Network,
    waiter::Waiter,
    websocket::{debug::Debug, dial::Dial, samples::Samples},
};

impl Session {
    /// Begins to connect. `recorder` has the tags of the virtual user.
    pub(crate) fn open(host: &Host, network: &Arc<Network>, recorder: Recorder, dial: Dial) -> Rc<Self> {
        let session = Rc::new(Self {
            url: dial.url.clone(),
            conversation: RefCell::default(),
            inbox: RefCell::default(),
            pings: RefCell::default(),
            opened: RefCell::default(),
            ending: RefCell::default(),
            is_handling: Cell::new(false),
            samples: RefCell::new(Samples::new(&host.program, &recorder, &dial.tags())),
            traffic: Rc::default(),
            started: Instant::now(),
            flavour: dial.flavour,
            debug: Debug::of(&host.program),
            has_begun: Cell::new(false),
            is_finished: Cell::new(false),
            reader: Waiter::default(),
            owner: Waiter::default(),
            sender: Waiter::default(),
        });
        let reader = Reader::of(&session);
        let (program, network, vu) = (Arc::clone(&host.program), Arc::clone(network), host.vu);
        host.background(async move {
            let dialled = dial.dial(&network, vu, reader.traffic()).await;
            reader.begin(dialled, &program, &recorder);
            reader.read().await;
        });
        session
    }
}
