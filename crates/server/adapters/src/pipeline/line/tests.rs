//! The receiving half of a line.

use tokio::io::AsyncWriteExt;

use super::*;

/// What ends a connection on which nothing was asked, when Redis says this and closes it.
async fn check(said: &str, expected: &str) {
    let (mut redis, near) = tokio::io::duplex(64);
    redis.write_all(said.as_bytes()).await.expect("there is room");
    drop(redis);
    let (_in_flight, due) = mpsc::channel(1);
    let ended = read(Connection::over(near).reader, due, None).await;
    assert_eq!(ended.expect_err("it ends").to_string(), expected, "{said}");
}

#[tokio::test]
async fn the_end_of_a_connection_is_noticed_when_nothing_was_asked() {
    check("", "read the answer of Redis: the connection was closed").await;
    check(
        "-ERR max number of clients reached\r\n",
        "Redis refused the command: ERR max number of clients reached",
    )
    .await;
    check(":1\r\n", "Redis sent a reply that nothing had asked for").await;
}
