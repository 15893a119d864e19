//! Members of streams with a real Redis server.

use super::*;

const STREAM: Source<'static> = Source::Stream("s");

impl Node {
    fn of_members(redis: &Redis) -> Self {
        Self::with_members(redis.server(), Some(Duration::from_secs(1)))
    }

    /// The ids and infos of the stream, and the ids that this server has.
    async fn members(&self) -> (Vec<(String, String)>, Vec<String>) {
        let members = self.broker.members(STREAM).await.expect("Redis is there");
        let info = |info: Option<Arc<str>>| info.map_or_else(String::new, |info| info.to_string());
        let all = members.listing.members.into_iter();
        let mut all: Vec<_> = all.map(|(id, text)| (id.to_string(), info(text))).collect();
        all.sort();
        let mut ours: Vec<_> = members.ours.iter().map(ToString::to_string).collect();
        ours.sort();
        (all, ours)
    }

    /// Waits for news that begin so.
    async fn until(&mut self, beginning: &str) -> String {
        loop {
            let news = timeout(PATIENCE, self.news.recv()).await.expect("Redis is there");
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

#[tokio::test]
async fn a_member_is_there_as_long_as_one_server_has_it() {
    let redis = Redis::start();
    let (mut one, mut other) = (Node::of_members(&redis), Node::of_members(&redis));
    let mut hears = Node::of_members(&redis);
    let _hearing = hears.hear("s").await;
    one.broker.enter(STREAM, "kay", Some("1"));
    assert_eq!(one.until("s: made").await, "s: made kay Joined(Some(\"1\"))");
    other.broker.enter(STREAM, "kay", Some("2"));
    assert_eq!(other.until("s: made").await, "s: made kay Updated(Some(\"2\"))");
    other.broker.enter(STREAM, "a:b c", None);
    assert_eq!(other.until("s: made").await, "s: made a:b c Joined(None)");
    assert_eq!(
        one.members().await,
        (pairs(&[("a:b c", ""), ("kay", "2")]), vec!["kay".to_owned()])
    );
    one.broker.exit(STREAM, "kay");
    one.broker.exit(STREAM, "never there");
    // The changes of one server are made in their order.
    one.broker.enter(STREAM, "end", None);
    assert_eq!(one.until("s: made").await, "s: made end Joined(None)");
    other.broker.exit(STREAM, "kay");
    assert_eq!(other.until("s: made").await, "s: made kay Left");
    assert_eq!(one.members().await.0, pairs(&[("a:b c", ""), ("end", "")]));

    // The announcements count one by one, whoever has made the change.
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

#[tokio::test]
async fn the_members_of_a_server_that_is_gone_are_taken_away() {
    let redis = Redis::start();
    let mut stays = Node::of_members(&redis);
    let mut goes = Node::of_members(&redis);
    let _hearing = stays.hear("s").await;
    stays.broker.enter(STREAM, "kay", None);
    stays.until("s: made").await;
    goes.broker.enter(STREAM, "kay", None);
    goes.broker.enter(STREAM, "ann", None);
    goes.until("s: made ann").await;
    let gone = goes.broker.shared.name.clone();
    drop(goes);
    let left = stays.until("s: made").await;
    assert_eq!(left, "s: made ann Left");
    assert_eq!(
        stays.members().await,
        (pairs(&[("kay", "")]), vec!["kay".to_owned()])
    );
    let fields = redis.command(&["HKEYS", "test:{s}:members"]).await;
    let fields = format!("{fields:?}");
    assert!(!fields.contains(&gone), "{fields}");
}

/// More changes than are under way at once, of which each member's last one counts.
#[tokio::test]
async fn changes_that_redis_does_not_take_are_sent_again() {
    let mut redis = Redis::start();
    let mut node = Node::of_members(&redis);
    node.broker.enter(STREAM, "first", None);
    node.until("s: made first").await;
    redis.process.kill();
    for n in 0..200 {
        node.broker.enter(STREAM, &n.to_string(), Some("1"));
        if n >= 3 {
            node.broker.exit(STREAM, &n.to_string());
        }
    }
    redis.process.restart();
    node.broker.enter(STREAM, "last", None);
    node.until("s: made last").await;
    let all = pairs(&[("0", "1"), ("1", "1"), ("2", "1"), ("first", ""), ("last", "")]);
    assert_eq!(node.members().await.0, all);
}
