//! Publications through two servers: a client of one sends them, clients of the other hear them.

use std::{
    io, mem,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd},
    time::Instant,
};

use serde_json::json;

use super::{
    super::swarm::{self, Member},
    Ear,
};

/// Makes a delivery about as long as a message of the bare engine.
const PADDING: usize = 184;

/// A client that publishes, and clients of another server that hear it.
pub(super) struct Through {
    publisher: Publisher,
    ears: Vec<Listener>,
}

pub(super) struct Publisher {
    member: Member,
    command: String,
    /// Whether the result of a publication is awaited.
    is_waiting: bool,
}

pub(super) struct Listener(Member);

impl Through {
    pub(super) fn connect(here: SocketAddr, there: SocketAddr, n_ears: usize) -> io::Result<Self> {
        let data = json!({ "action": "broadcast", "payload": "x".repeat(PADDING) }).to_string();
        let command = json!({ "command": "message", "identifier": swarm::BASE.identifier, "data": data });
        Ok(Self {
            ears: swarm::gather(there, n_ears)?.into_iter().map(Listener).collect(),
            publisher: Publisher {
                member: Member::subscribe(here)?,
                command: command.to_string(),
                is_waiting: false,
            },
        })
    }

    pub(super) fn parts(&mut self) -> (&mut Publisher, &mut [Listener]) {
        (&mut self.publisher, &mut self.ears)
    }
}

impl Publisher {
    /// Publishes when the publication before this one is done. Returns the time right before.
    pub(super) fn publish(&mut self) -> io::Result<Instant> {
        if mem::replace(&mut self.is_waiting, true) {
            self.member.wait_for("broadcastResult")?;
        }
        let begin = Instant::now();
        self.member.send(&self.command)?;
        Ok(begin)
    }
}

impl Ear for Listener {
    fn hear(&mut self) -> io::Result<usize> {
        let frames = self.0.read_frames()?;
        // A ping may come between.
        let deliveries = frames.iter().filter(|frame| swarm::contains(frame, b"broadcast"));
        Ok(deliveries.count())
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
