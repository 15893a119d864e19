//! Responses as bytes, cut in every way.

use proptest::prelude::*;

use super::*;

fn reader(is_answer_to_head: bool) -> ResponseReader {
    ResponseReader::new(
        is_answer_to_head,
        Sink::new(Keep::Body, 1000, &KeptBodies::new(1000)),
    )
}

/// `status reason|body|persistent`, or the error; fed in pieces of `n_piece_bytes`, then ended.
fn read_pieces(bytes: &[u8], is_answer_to_head: bool, n_piece_bytes: usize) -> String {
    let mut reader = reader(is_answer_to_head);
    for piece in bytes.chunks(n_piece_bytes) {
        if let Err(error) = reader.feed(piece) {
            return error.to_string();
        }
    }
    let is_persistent = reader.is_persistent();
    if let Err(error) = reader.end() {
        return error.to_string();
    }
    let response = reader.into_response().unwrap();
    let body = String::from_utf8_lossy(&response.body);
    format!("{} {}|{body}|{is_persistent}", response.status, response.reason)
}

fn read(text: &str, is_answer_to_head: bool, expected: &str) {
    for n_piece_bytes in [1, 2, 3, 7, 100_000] {
        let got = read_pieces(text.as_bytes(), is_answer_to_head, n_piece_bytes);
        assert_eq!(got, expected, "{text:?} in pieces of {n_piece_bytes}");
    }
}

#[test]
fn a_body_ends_where_its_head_says() {
    let check = |text: &str, expected: &str| read(text, false, expected);
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 OK|hi|true");
    check("HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n", "200 Fine||true");
    check("HTTP/1.1 204 No Content\r\n\r\n", "204 No Content||true");
    check(
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        "304 Not Modified||true",
    );
    check("HTTP/1.1 200\r\n\r\nuntil the end", "200 |until the end|false");
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "200 OK|hi|true",
    );
    check(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "200 OK|x|true",
    );
    check("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "200 OK|x|true");
    check("HTTP/1.1 200 OK\r\nContent-Length: 1\n\r\nx", "200 OK|x|true");
    check(
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n",
        "200 OK|2\r\n|false",
    );
    read(
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        true,
        "200 OK||true",
    );
}

#[test]
fn a_connection_persists_unless_one_side_ends_it() {
    let check = |text: &str, expected: &str| read(text, false, expected);
    check(
        "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
        "200 OK||false",
    );
    check("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK||false");
    check(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        "200 OK||true",
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nsurplus",
        "200 OK||false",
    );
}

#[test]
fn what_is_no_response_is_refused() {
    let check = |text: &str, expected: &str| read(text, false, expected);
    let ended = "unexpected EOF: the server ended the connection before the end of its response";
    check("", "EOF: the server ended the connection without a response");
    check("HTTP/1.1 200 OK\r\nContent-Len", ended);
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", ended);
    check(
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "unsupported response status: 101 Switching Protocols",
    );
    let malformed = |what: &str| format!("malformed HTTP response: {what}");
    check(
        "SSH-2.0-OpenSSH\r\n\r\n",
        &malformed("it does not begin with HTTP/1.1 or HTTP/1.0"),
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        &malformed("a bad Content-Length"),
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        &malformed("two different Content-Length fields"),
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        &malformed("a transfer coding that is not chunked alone"),
    );
    for codings in ["gzip, chunked", "chunked\r\nTransfer-Encoding: chunked"] {
        check(
            &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {codings}\r\n\r\n0\r\n\r\n"),
            &malformed("a transfer coding that is not chunked alone"),
        );
    }
    check(
        "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        &malformed("a bad header field"),
    );
}

#[test]
fn an_answer_that_is_cut_anywhere_is_no_answer() {
    for whole in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ] {
        for end in 1..whole.len() {
            read(
                &whole[..end],
                false,
                "unexpected EOF: the server ended the connection before the end of its response",
            );
        }
    }
}

#[test]
fn interim_answers_come_to_an_end() {
    let mut reader = reader(false);
    let interim = b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n";
    let n_most = MAX_HEAD_BYTES / interim.len();
    assert!((0..n_most).all(|_| reader.feed(interim).is_ok()));
    let error = reader.feed(interim).unwrap_err();
    assert!(
        matches!(error, HttpError::TooLarge { what: "head", .. }),
        "{error}"
    );
}

#[test]
fn sizes_are_limited() {
    let feed = |text: &str, keep: Keep| {
        let mut reader = ResponseReader::new(false, Sink::new(keep, 10, &KeptBodies::new(10)));
        reader.feed(text.as_bytes()).map_err(|error| error.to_string())
    };
    let large = "HTTP/1.1 200 OK\r\n\r\n12345678901";
    assert_eq!(feed(large, Keep::Nothing), Ok(()));
    assert_eq!(
        feed(large, Keep::Body),
        Err("the response's body is larger than 10 bytes".to_owned())
    );
    let head = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(MAX_HEAD_BYTES));
    assert_eq!(
        feed(&head, Keep::Body),
        Err("the response's head is larger than 262144 bytes".to_owned())
    );
    let fields = |n: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(n));
    assert_eq!(feed(&fields(MAX_FIELDS), Keep::Body), Ok(()));
    assert!(feed(&fields(MAX_FIELDS + 1), Keep::Body).is_err());
}

#[test]
fn an_announced_length_takes_no_memory() {
    let mut reader = ResponseReader::new(
        false,
        Sink::new(Keep::Body, usize::MAX, &KeptBodies::new(usize::MAX)),
    );
    reader
        .feed(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n")
        .unwrap();
    assert!(reader.sink.bytes.capacity() <= MAX_FIRST_CAPACITY);
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), n_piece_bytes in 1_usize..50) {
        let _ = read_pieces(&bytes, false, n_piece_bytes);
        let mut response = b"HTTP/1.1 200 OK\r\n".to_vec();
        response.extend_from_slice(&bytes);
        let _ = read_pieces(&response, false, n_piece_bytes);
    }
}
