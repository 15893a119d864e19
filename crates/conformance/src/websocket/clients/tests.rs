//! A run with a client of a few lines: it asks, answers one case wrongly, and says goodbye.

use std::future::pending;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

/// Everything that comes for `target`, as text, after sending `frames` behind the request.
async fn call(listener: &Listener, target: &str, frames: &[u8]) -> String {
    let mut stream = TcpStream::connect(&listener.origin().unwrap()["ws://".len()..])
        .await
        .unwrap();
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream
        .write_all(&[request.as_bytes(), frames].concat())
        .await
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A Close with 1000, masked with zeros.
const CLOSE: &[u8] = b"\x88\x82\0\0\0\0\x03\xe8";

#[tokio::test]
async fn a_client_is_told_and_judged() {
    let suite = ClientSuite::new(1);
    let cases: Vec<Case> = suite.cases().into_iter().take(3).collect();
    let listener = Listener::bind(([127, 0, 0, 1], 0).into(), None).await.unwrap();
    let mut heard = Vec::new();
    let client = async {
        assert!(
            call(&listener, "/getCaseCount", CLOSE)
                .await
                .ends_with("\u{1}3\u{fffd}\u{2}\u{3}\u{fffd}")
        );
        let info = call(&listener, "/getCaseInfo?case=1", CLOSE).await;
        assert!(
            info.contains(r#"{"id":"1.1.1","description":"a text of 0 bytes comes back"}"#),
            "{info}"
        );
        // An echo of 0 bytes is due, and then an answer to the Close.
        call(
            &listener,
            "/runCase?case=1&agent=few%20lines",
            b"\x81\x80\0\0\0\0\x88\x82\0\0\0\0\x03\xe8",
        )
        .await;
        call(&listener, "/runCase?case=2&agent=few%20lines", CLOSE).await;
        let status = call(&listener, "/getCaseStatus?case=2", CLOSE).await;
        assert!(status.contains(r#"{"behavior":"FAILED"}"#), "{status}");
        assert!(
            call(&listener, "/elsewhere", b"")
                .await
                .starts_with("HTTP/1.1 404")
        );
        call(&listener, "/updateReports?agent=few%20lines", CLOSE).await;
    };
    let usual_deadline = Duration::from_secs(10);
    let running = suite.run(&listener, &cases, usual_deadline, pending(), |outcome| {
        heard.push(outcome.verdict);
    });
    let (run, ()) = tokio::join!(running, client);
    assert_eq!(run.agent.as_deref(), Some("few lines"));
    let verdicts: Vec<Verdict> = run.ran.outcomes.iter().map(|outcome| outcome.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, Verdict::Skipped]);
    assert_eq!(heard, verdicts[..2]);
}

#[tokio::test]
async fn a_client_that_speaks_first_is_told_in_one_line() {
    let suite = ClientSuite::new(1);
    let cases: Vec<Case> = suite.cases().into_iter().take(9).collect();
    let listener = Listener::bind(([127, 0, 0, 1], 0).into(), None).await.unwrap();
    let greeting = [b"\x81\x85\0\0\0\0hello".as_slice(), CLOSE].concat();
    let client = async {
        for number in 1..=2 {
            call(&listener, &format!("/runCase?case={number}&agent=me"), &greeting).await;
        }
    };
    let running = suite.run(&listener, &cases, Duration::from_secs(10), pending(), |_| ());
    let (run, ()) = tokio::join!(running, client);
    let expected = "the client sends text of 5 bytes \"hello\" before anything was sent to it; a target of this suite only \
                    echoes";
    assert_eq!(run.ran.ended, Some(Ended::Hopeless(expected.to_owned())));
    let last = run.ran.outcomes.last().unwrap();
    assert_eq!(
        (last.verdict, last.explanation.as_str()),
        (Verdict::Skipped, expected)
    );
}
