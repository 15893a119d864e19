//! What every store does with members, for its tests with a real server.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};

use super::{MemberStore, Members};
use crate::broker::Source;

const PATIENCE: Duration = Duration::from_secs(60);

const STREAM: Source<'static> = Source::Stream("s");

/// One of the servers that share a store.
pub(crate) struct Peer<'a, S> {
    pub(crate) store: &'a S,
    /// What it tells; see [`Notes`](crate::broker::notes::Notes).
    pub(crate) news: &'a mut mpsc::UnboundedReceiver<String>,
}

impl<S: MemberStore> Peer<'_, S> {
    fn enter(&self, id: &str, info: Option<&str>) {
        self.store.enter(STREAM, id, info);
    }

    fn exit(&self, id: &str) {
        self.store.exit(STREAM, id);
    }

    /// The ids and infos of the stream, and the ids that this server has.
    async fn members(&self) -> (Vec<(String, String)>, Vec<String>) {
        let Members { listing, ours } = self.store.members(STREAM).await.ok().expect("the store is there");
        let info = |info: Option<Arc<str>>| info.map_or_else(String::new, |info| info.to_string());
        let all = listing.members.into_iter();
        let mut all: Vec<_> = all.map(|(id, text)| (id.to_string(), info(text))).collect();
        all.sort();
        let mut ours: Vec<_> = ours.iter().map(ToString::to_string).collect();
        ours.sort();
        (all, ours)
    }

    /// Waits for news that begin so.
    async fn until(&mut self, beginning: &str) -> String {
        loop {
            let news = timeout(PATIENCE, self.news.recv()).await.expect("they come");
            let news = news.expect("the broker runs");
            if news.starts_with(beginning) {
                return news;
            }
        }
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(id, info)| ((*id).to_owned(), (*info).to_owned()));
    owned.collect()
}

/// `hears` hears the stream.
pub(crate) async fn a_member_is_there_as_long_as_one_server_has_it(
    mut one: Peer<'_, impl MemberStore>,
    mut other: Peer<'_, impl MemberStore>,
    mut hears: Peer<'_, impl MemberStore>,
) {
    one.enter("kay", Some("1"));
    assert_eq!(one.until("s: made").await, "s: made kay Joined(Some(\"1\"))");
    other.enter("kay", Some("2"));
    assert_eq!(other.until("s: made").await, "s: made kay Updated(Some(\"2\"))");
    other.enter("a:b c", None);
    assert_eq!(other.until("s: made").await, "s: made a:b c Joined(None)");
    assert_eq!(
        one.members().await,
        (pairs(&[("a:b c", ""), ("kay", "2")]), vec!["kay".to_owned()])
    );
    one.exit("kay");
    one.exit("never there");
    // The changes of one server are told in their order.
    one.enter("end", None);
    assert_eq!(one.until("s: made").await, "s: made end Joined(None)");
    other.exit("kay");
    assert_eq!(other.until("s: made").await, "s: made kay Left");
    assert_eq!(one.members().await.0, pairs(&[("a:b c", ""), ("end", "")]));

    // The announcements count one by one, whichever server has made the change.
    let mut numbers = Vec::new();
    for change in [
        "Joined(Some(\"1\"))",
        "Updated(Some(\"2\"))",
        "Joined(None)",
        "Joined(None)",
        "Left",
    ] {
        let announced = hears.until("s: member A").await;
        assert!(announced.contains(change), "{announced}");
        let (_, number) = announced.split_once("number: ").expect("it has one");
        let (number, _) = number.split_once(',').expect("more follows");
        numbers.push(number.parse::<u64>().expect("a number"));
    }
    let first = numbers[0];
    assert_eq!(numbers, [0, 1, 2, 3, 4].map(|n| first + n));
}

/// `stays` hears the stream, and `kill` ends `goes`.
pub(crate) async fn the_members_of_a_server_that_is_gone_are_taken_away<S: MemberStore>(
    mut stays: Peer<'_, S>,
    (store, mut news): (S, mpsc::UnboundedReceiver<String>),
    kill: impl FnOnce(),
) {
    stays.enter("kay", None);
    stays.until("s: made").await;
    let mut goes = Peer {
        store: &store,
        news: &mut news,
    };
    goes.enter("kay", None);
    goes.enter("ann", None);
    goes.until("s: made ann").await;
    kill();
    assert_eq!(stays.until("s: made").await, "s: made ann Left");
    assert_eq!(
        stays.members().await,
        (pairs(&[("kay", "")]), vec!["kay".to_owned()])
    );
}

/// More changes than are under way at once, of which each member's last one counts. `set_running` ends the store and
/// starts it again.
pub(crate) async fn changes_that_the_store_does_not_take_are_sent_again(
    mut node: Peer<'_, impl MemberStore>,
    mut set_running: impl FnMut(bool),
) {
    node.enter("first", None);
    node.until("s: made first").await;
    set_running(false);
    for n in 0..200 {
        node.enter(&n.to_string(), Some("1"));
        if n >= 3 {
            node.exit(&n.to_string());
        }
    }
    set_running(true);
    node.enter("last", None);
    node.until("s: made last").await;
    let all = pairs(&[("0", "1"), ("1", "1"), ("2", "1"), ("first", ""), ("last", "")]);
    assert_eq!(node.members().await.0, all);
}
