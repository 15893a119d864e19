//! Members of streams with a real Redis server.

use super::*;
use crate::members::scenarios::{self, Peer};

impl Node {
    fn of_members(redis: &Redis) -> Self {
        Self::with_members(redis.server(), Some(Duration::from_secs(1)))
    }

    fn peer(&mut self) -> Peer<'_, Broker> {
        Peer {
            store: &self.broker,
            news: &mut self.news,
        }
    }
}

#[tokio::test]
async fn a_member_is_there_as_long_as_one_server_has_it() {
    let redis = Redis::start();
    let [mut one, mut other, mut hears] = [(), (), ()].map(|()| Node::of_members(&redis));
    let _hearing = hears.hear("s").await;
    let peers = (one.peer(), other.peer(), hears.peer());
    scenarios::a_member_is_there_as_long_as_one_server_has_it(peers.0, peers.1, peers.2).await;
}

#[tokio::test]
async fn the_members_of_a_server_that_is_gone_are_taken_away() {
    let redis = Redis::start();
    let (mut stays, goes) = (Node::of_members(&redis), Node::of_members(&redis));
    let _hearing = stays.hear("s").await;
    let gone = goes.broker.shared.name.clone();
    let Node {
        broker, news, stop, ..
    } = goes;
    let kill = || {
        stop.send_replace(true);
    };
    scenarios::the_members_of_a_server_that_is_gone_are_taken_away(stays.peer(), (broker, news), kill).await;
    let fields = redis.command(&["HKEYS", "test:{s}:members"]).await;
    let fields = format!("{fields:?}");
    assert!(!fields.contains(&gone), "{fields}");
}

#[tokio::test]
async fn changes_that_redis_does_not_take_are_sent_again() {
    let mut redis = Redis::start();
    let mut node = Node::of_members(&redis);
    let set_running = |is_running| {
        if is_running {
            redis.process.restart();
        } else {
            redis.process.kill();
        }
    };
    scenarios::changes_that_the_store_does_not_take_are_sent_again(node.peer(), set_running).await;
}
