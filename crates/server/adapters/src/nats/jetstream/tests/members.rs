//! Members of streams in JetStream with a real NATS server.

use super::*;
use crate::members::scenarios::{self, Peer};

/// A server whose clients are present.
fn with_members(nats: &Nats) -> Node {
    Node::start(JetStreamSettings {
        member_ttl: Some(Duration::from_secs(1)),
        ..nats.settings()
    })
}

impl Node {
    fn peer(&mut self) -> Peer<'_, JetStream> {
        Peer {
            store: &self.broker,
            news: &mut self.news,
        }
    }
}

#[tokio::test]
async fn a_member_is_there_as_long_as_one_server_has_it() {
    let nats = Nats::start();
    let [mut one, mut other, mut hears] = [(), (), ()].map(|()| with_members(&nats));
    let _hearing = hears.hear().await;
    let peers = (one.peer(), other.peer(), hears.peer());
    scenarios::a_member_is_there_as_long_as_one_server_has_it(peers.0, peers.1, peers.2).await;
}

#[tokio::test]
async fn the_members_of_a_server_that_is_gone_are_taken_away() {
    let nats = Nats::start();
    let (mut stays, goes) = (with_members(&nats), with_members(&nats));
    let _hearing = stays.hear().await;
    let Node {
        broker, news, stop, ..
    } = goes;
    let kill = || {
        stop.send_replace(true);
    };
    let goes = (broker, news);
    scenarios::the_members_of_a_server_that_is_gone_are_taken_away(stays.peer(), goes, kill).await;
}

#[tokio::test]
async fn changes_that_nats_does_not_take_are_sent_again() {
    let mut nats = Nats::start();
    let mut node = with_members(&nats);
    let set_running = |is_running| {
        if is_running {
            nats.process.restart();
        } else {
            nats.process.kill();
        }
    };
    scenarios::changes_that_the_store_does_not_take_are_sent_again(node.peer(), set_running).await;
}
