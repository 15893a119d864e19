//! Valid and invalid replies of Redis.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 16;

async fn read(bytes: &[u8]) -> Result<Reply, ReplyError> {
    ReplyReader::new(bytes, LIMIT).read().await
}

fn text(text: &str) -> Reply {
    Reply::Text(text.into())
}

#[tokio::test]
async fn every_kind_of_reply() {
    for (bytes, expected) in [
        ("+OK\r\n", text("OK")),
        ("-BUSYGROUP taken\r\n", Reply::Error("BUSYGROUP taken".to_owned())),
        (":-7\r\n", Reply::Integer(-7)),
        ("$-1\r\n", Reply::Nil),
        ("*-1\r\n", Reply::Nil),
        ("$0\r\n\r\n", text("")),
        ("$4\r\na\r\nb\r\n", text("a\r\nb")),
        ("*0\r\n", Reply::Array(vec![])),
        (
            "*3\r\n:1\r\n*2\r\n+a\r\n*1\r\n$-1\r\n*0\r\n",
            Reply::Array(vec![
                Reply::Integer(1),
                Reply::Array(vec![text("a"), Reply::Array(vec![Reply::Nil])]),
                Reply::Array(vec![]),
            ]),
        ),
    ] {
        assert_eq!(read(bytes.as_bytes()).await.expect(bytes), expected, "{bytes}");
        for cut in 0..bytes.len() {
            assert!(
                read(&bytes.as_bytes()[..cut]).await.is_err(),
                "{bytes} cut at {cut}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_too_long_leaves_its_length_behind_and_the_next_reply_comes() {
    let long = "x".repeat(100_000);
    let bytes =
        format!("*2\r\n$100000\r\n{long}\r\n$16\r\n0123456789abcdef\r\n$17\r\n0123456789abcdefg\r\n:1\r\n");
    let mut reader = ReplyReader::new(bytes.as_bytes(), LIMIT);
    let expected = Reply::Array(vec![Reply::TooLong(100_000), text("0123456789abcdef")]);
    assert_eq!(reader.read().await.unwrap(), expected);
    assert_eq!(reader.read().await.unwrap(), Reply::TooLong(17));
    assert_eq!(reader.read().await.unwrap(), Reply::Integer(1));
}

#[tokio::test]
async fn a_reply_without_end_keeps_a_limited_part() {
    let n = 100_000;
    let bytes = format!("*{n}\r\n{}+next\r\n", "$3\r\nabc\r\n".repeat(n));
    let mut reader = ReplyReader::new(bytes.as_bytes(), LIMIT);
    let kept = reader.read().await.unwrap().into_elements();
    assert!(
        kept.len() * size_of::<Reply>() <= MAX_STRINGS * LIMIT,
        "{}",
        kept.len()
    );
    assert!(!kept.is_empty());
    assert_eq!(reader.read().await.unwrap(), text("next"));
}

#[tokio::test]
async fn what_is_not_redis_is_refused() {
    let (endless, nested) = ("x".repeat(MAX_LINE_BYTES * 2), "*1\r\n".repeat(1000));
    for (bytes, part) in [
        ("HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1"),
        ("\r\n", "not in Redis' protocol"),
        ("$x\r\n", "$x"),
        (":1.5\r\n", ":1.5"),
        (&endless, "a line without end"),
        (&nested, "arrays in arrays"),
        ("*9223372036854775807\r\n", "closed"),
        ("$9223372036854775807\r\nabc", "closed"),
    ] {
        let error = read(bytes.as_bytes()).await.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn an_error_within_an_array_is_the_errors_of_all() {
    let reply = read(b"*2\r\n:1\r\n*1\r\n-ERR no\r\n").await.unwrap();
    assert_eq!(reply.into_result(), Err("ERR no".to_owned()));
}

fn reply() -> impl Strategy<Value = Reply> {
    let leaf = prop_oneof![
        Just(Reply::Nil),
        any::<i64>().prop_map(Reply::Integer),
        prop::collection::vec(any::<u8>(), 0..LIMIT).prop_map(Reply::Text),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop::collection::vec(inner, 0..4).prop_map(Reply::Array)
    })
}

fn encode(reply: &Reply, bytes: &mut Vec<u8>) {
    match reply {
        Reply::Nil => bytes.extend(b"$-1\r\n"),
        Reply::Integer(number) => bytes.extend(format!(":{number}\r\n").bytes()),
        Reply::Text(text) => {
            bytes.extend(format!("${}\r\n", text.len()).bytes());
            bytes.extend(text);
            bytes.extend(b"\r\n");
        }
        Reply::Array(elements) => {
            bytes.extend(format!("*{}\r\n", elements.len()).bytes());
            elements.iter().for_each(|element| encode(element, bytes));
        }
        Reply::TooLong(_) | Reply::Error(_) => unreachable!("not made here"),
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

proptest! {
    #[test]
    fn what_was_written_is_read(reply in reply()) {
        let mut bytes = Vec::new();
        encode(&reply, &mut bytes);
        prop_assert_eq!(run(read(&bytes)).unwrap(), reply);
    }

    #[test]
    fn any_bytes_are_a_reply_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(run(read(&bytes)));
    }

    /// Lines that look like Redis' protocol.
    #[test]
    fn any_lines_are_a_reply_or_an_error(lines in "([-+:$*]-?[0-9]{0,3}\r\n){0,20}") {
        drop(run(read(lines.as_bytes())));
    }
}
