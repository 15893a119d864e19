//! Any schedule of publications, portions and full connections: every listener gets every message, in order and in
//! time.

use std::{collections::BTreeSet, rc::Rc};

use proptest::prelude::*;

use super::unlimited;
use crate::{Audience, Format, Hub, Portion, SessionId};

const STREAMS: [&str; 3] = ["a", "b", "c"];
const N_SESSIONS: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    Join {
        session: usize,
        stream: usize,
    },
    Leave {
        session: usize,
        stream: usize,
    },
    Replace {
        session: usize,
    },
    Publish {
        stream: usize,
    },
    /// The fan-out loop takes a portion of at most `max` sessions.
    Portion {
        max: usize,
    },
    /// From now on the connection is full.
    Fill {
        session: usize,
    },
    /// The connection takes bytes again.
    Empty {
        session: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (session, stream) = (0..N_SESSIONS, 0..STREAMS.len());
    prop_oneof![
        4 => (session.clone(), stream.clone()).prop_map(|(session, stream)| Step::Join { session, stream }),
        1 => (session.clone(), stream.clone()).prop_map(|(session, stream)| Step::Leave { session, stream }),
        1 => session.clone().prop_map(|session| Step::Replace { session }),
        6 => stream.prop_map(|stream| Step::Publish { stream }),
        6 => (1_usize..4).prop_map(|max| Step::Portion { max }),
        1 => session.clone().prop_map(|session| Step::Fill { session }),
        1 => session.prop_map(|session| Step::Empty { session }),
    ]
}

/// A session with its connection.
struct Client {
    id: SessionId,
    is_full: bool,
    /// Numbers of the messages published to the session.
    published: Vec<usize>,
    /// Numbers of the messages that the connection took.
    received: Vec<usize>,
}

/// A publication that the hub may not have completed yet.
struct UnderWay {
    message: usize,
    ticket: Rc<()>,
    listeners: Vec<SessionId>,
}

/// The hub with its clients, and the messages that they must have received by now.
struct World {
    hub: Hub<(), Rc<()>>,
    clients: Vec<Client>,
    /// Streams with the sessions that listen to them.
    listeners: BTreeSet<(usize, usize)>,
    under_way: Vec<UnderWay>,
    portion: Portion<Rc<()>>,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            hub: Hub::new(1 << 20, unlimited()),
            clients: Vec::new(),
            listeners: BTreeSet::new(),
            under_way: Vec::new(),
            portion: Portion::default(),
        };
        for _ in 0..N_SESSIONS {
            let client = world.connect();
            world.clients.push(client);
        }
        world
    }

    fn connect(&mut self) -> Client {
        Client {
            id: self.hub.insert((), Format(0)),
            is_full: false,
            published: Vec::new(),
            received: Vec::new(),
        }
    }

    fn take(&mut self, message: usize, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Join { session, stream } => {
                self.hub
                    .subscribe(self.clients[session].id, None, STREAMS[stream]);
                self.listeners.insert((stream, session));
            }
            Step::Leave { session, stream } => {
                self.hub
                    .unsubscribe(self.clients[session].id, None, STREAMS[stream]);
                self.listeners.remove(&(stream, session));
            }
            Step::Replace { session } => {
                prop_assert_eq!(self.hub.remove(self.clients[session].id), Some(()));
                self.listeners.retain(|(_, listener)| *listener != session);
                self.clients[session] = self.connect();
            }
            Step::Publish { stream } => self.publish(stream, message)?,
            Step::Portion { max } => self.visit(max)?,
            Step::Fill { session } => self.clients[session].is_full = true,
            Step::Empty { session } => {
                self.clients[session].is_full = false;
                let (_, outbox) = self.hub.get_mut(self.clients[session].id).expect("exists");
                // A connection that was never full waits for its visit.
                if outbox.is_blocked() {
                    self.flush(session);
                }
            }
        }
        self.check_completed()
    }

    fn publish(&mut self, stream: usize, message: usize) -> Result<(), TestCaseError> {
        let ticket = Rc::new(());
        let range = (stream, 0)..(stream, N_SESSIONS);
        let sessions: Vec<_> = self.listeners.range(range).map(|(_, session)| *session).collect();
        let published = self.hub.publish(
            STREAMS[stream],
            Audience::default(),
            Rc::clone(&ticket),
            |_, _| u32::try_from(message).expect("few messages").to_be_bytes().into(),
        );
        prop_assert_eq!(
            (published.n_deliveries, published.overflowed.len()),
            (sessions.len(), 0)
        );
        for session in &sessions {
            self.clients[*session].published.push(message);
        }
        self.under_way.push(UnderWay {
            message,
            ticket,
            listeners: sessions.iter().map(|session| self.clients[*session].id).collect(),
        });
        Ok(())
    }

    /// Flushes the sessions of one portion, as the fan-out loop of the server does.
    fn visit(&mut self, max: usize) -> Result<(), TestCaseError> {
        let was_idle = self.hub.n_under_way() == 0;
        let mut portion = std::mem::take(&mut self.portion);
        self.hub.next_portion(max, &mut portion);
        prop_assert!(portion.sessions.len() <= max);
        prop_assert_eq!(portion.sessions.is_empty(), was_idle);
        for id in &portion.sessions {
            if let Some(session) = self.clients.iter().position(|client| client.id == *id) {
                self.flush(session);
            }
        }
        portion.completed.clear();
        self.portion = portion;
        Ok(())
    }

    fn flush(&mut self, session: usize) {
        let client = &mut self.clients[session];
        let (_, outbox) = self.hub.get_mut(client.id).expect("exists");
        let flushed = outbox.flush(|slices| {
            if client.is_full {
                Err(std::io::ErrorKind::WouldBlock.into())
            } else {
                let frames = slices
                    .iter()
                    .map(|slice| <[u8; 4]>::try_from(&**slice).expect("whole"));
                client
                    .received
                    .extend(frames.map(|frame| u32::from_be_bytes(frame) as usize));
                Ok(slices.iter().map(|slice| slice.len()).sum())
            }
        });
        flushed.expect("a full connection is not an error");
    }

    /// Checks that a completed publication was received by all its listeners, except those that are gone or full.
    fn check_completed(&mut self) -> Result<(), TestCaseError> {
        let is_complete = |publication: &mut UnderWay| Rc::strong_count(&publication.ticket) == 1;
        for UnderWay {
            message, listeners, ..
        } in self.under_way.extract_if(.., is_complete)
        {
            for client in &self.clients {
                let must_have = listeners.contains(&client.id) && !client.is_full;
                prop_assert!(!must_have || client.received.contains(&message), "{message}");
            }
        }
        prop_assert_eq!(self.under_way.len(), self.hub.n_under_way());
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_listener_gets_every_message(steps in prop::collection::vec(step(), 0..150)) {
        let mut world = World::new();
        for (n, step) in steps.iter().enumerate() {
            world.take(n, step)?;
        }
        // Each publication visits at most all sessions, one per portion.
        for _ in 0..steps.len() * N_SESSIONS {
            if world.hub.n_under_way() == 0 {
                break;
            }
            world.take(steps.len(), &Step::Portion { max: 1 })?;
        }
        prop_assert_eq!(world.hub.n_under_way(), 0);
        for session in 0..N_SESSIONS {
            let step = Step::Empty { session };
            world.take(steps.len(), &step)?;
            let Client { published, received, .. } = &world.clients[session];
            prop_assert_eq!(published, received, "session {}", session);
        }
    }
}
