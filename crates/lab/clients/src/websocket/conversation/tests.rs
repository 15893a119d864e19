//! Conversations with a scripted server on a real socket.

use std::{rc::Rc, time::Duration};

use plimsoll_websocket::DecodeError;
use tokio::join;

use super::*;
use crate::{
    test_peer::{Got, Peer, Session, close, frame},
    websocket::connect,
};

const LONG: Duration = Duration::from_secs(3600);
const SECOND: Duration = Duration::from_secs(1);

/// Texts in the order of their arrival, at most so many, and one read.
struct Texts {
    all: Vec<String>,
    capacity: usize,
}

impl Recipient for Texts {
    fn put(&mut self, _: Instant, event: Event<'_>) {
        if let Event::Text(text) = event {
            self.all.push(text.to_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.all.len() >= self.capacity
    }
}

fn texts(capacity: usize) -> Texts {
    let all = Vec::new();
    Texts { all, capacity }
}

/// A server that has sent `first_bytes` with its 101, and a conversation with it.
async fn begun(first_bytes: &[u8]) -> (Session, Conversation) {
    let (peer, options) = Peer::bind().await;
    let traffic = Rc::default();
    let (session, connected) = join!(peer.accept_websocket(first_bytes), connect(&options, &traffic));
    (session, Conversation::new(connected.unwrap().0))
}

/// Looks for a number of texts.
fn at_least(n: usize) -> impl FnMut(&mut Context<'_>, &mut Texts) -> Poll<()> {
    move |_, recipient| {
        if recipient.all.len() < n {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

fn closed(code: u16) -> ReceiveError {
    let (code, reason) = (Some(code), String::new());
    ReceiveError::Closed { code, reason }
}

#[tokio::test]
async fn a_full_recipient_is_not_read_into_but_messages_go_out() {
    let (mut session, mut conversation) = begun(b"").await;
    let mut recipient = texts(1);
    session.send("one").await;
    conversation
        .read_until(&mut recipient, at_least(1))
        .await
        .unwrap();
    session.send("two").await;
    conversation.queue(Opcode::Text, b"three").unwrap();
    let got = tokio::select! {
        biased;
        read = conversation.read_until(&mut recipient, at_least(2)) => panic!("{read:?}"),
        got = session.next() => got,
    };
    assert_eq!(got, Got::Text("three".to_owned()));
    recipient.capacity = 2;
    conversation
        .read_until(&mut recipient, at_least(2))
        .await
        .unwrap();
    assert_eq!(recipient.all, ["one", "two"]);
}

#[tokio::test]
async fn what_comes_with_the_end_counts_and_the_end_is_remembered() {
    let bytes = [frame(Opcode::Text, b"last"), close(CloseCode::GOING_AWAY, "")].concat();
    let (mut session, mut conversation) = begun(&bytes).await;
    let mut recipient = texts(9);
    assert_eq!(conversation.read_until(&mut recipient, at_least(1)).await, Ok(()));
    for _ in 0..2 {
        let outcome = conversation.read_until(&mut recipient, at_least(2)).await;
        assert_eq!(outcome, Err(closed(1001)));
    }
    assert_eq!(conversation.ending(), Some(&closed(1001)));
    assert_eq!(session.next().await, Got::close(1001));
    assert!(matches!(
        conversation.queue(Opcode::Text, b"late"),
        Err(SendError::Closing)
    ));
}

#[tokio::test]
async fn a_flush_reads_when_the_server_sends_before_it_reads() {
    // All together are more than the buffers of two sockets hold.
    const N: usize = 16;
    let large = "x".repeat(1_000_000);
    let (mut session, mut conversation) = begun(b"").await;
    let mut recipient = texts(N);
    for _ in 0..N {
        conversation.queue(Opcode::Text, large.as_bytes()).unwrap();
    }
    let server = async {
        for _ in 0..N {
            session.send(&large).await;
        }
        for _ in 0..N {
            assert_eq!(session.next().await, Got::Text(large.clone()));
        }
    };
    let client = async {
        conversation.flush(&mut recipient).await.unwrap();
        conversation.read_until(&mut recipient, at_least(N)).await
    };
    assert_eq!(join!(client, server).0, Ok(()));
}

#[tokio::test]
async fn closing_waits_for_the_server_and_still_takes_messages() {
    let (mut session, mut conversation) = begun(b"").await;
    let server = async {
        assert_eq!(session.next().await, Got::close(1000));
        session.send("answer").await;
        session.write(&close(CloseCode::NORMAL, "")).await;
        drop(session);
    };
    let mut recipient = texts(9);
    join!(server, conversation.close(&mut recipient, LONG));
    assert_eq!(recipient.all, ["answer"]);
    assert_eq!(conversation.ending(), Some(&closed(1000)));
}

#[tokio::test(start_paused = true)]
async fn a_deaf_server_is_given_up() {
    let (_session, mut conversation) = begun(b"").await;
    let started = tokio::time::Instant::now();
    conversation.close(&mut Discard, SECOND).await;
    assert_eq!(started.elapsed().as_secs(), 1);

    let (_session, mut conversation) = begun(b"").await;
    let started = tokio::time::Instant::now();
    conversation.start_close(CloseCode::GOING_AWAY, "", SECOND);
    conversation.expect_close(LONG);
    let ending = poll_fn(|cx| conversation.poll_read_all(cx, &mut Discard)).await;
    assert_eq!((ending, started.elapsed().as_secs()), (ReceiveError::Ended, 1));
}

#[tokio::test]
async fn messages_can_be_answered_before_an_ending_that_came_with_them() {
    async fn check(bytes: &[u8], expected: ReceiveError, code: u16) {
        let bytes = [&frame(Opcode::Text, b"one"), bytes, &frame(Opcode::Ping, b"late")].concat();
        let (mut session, conversation) = begun(&bytes).await;
        let mut conversation = conversation.answering_later();
        let mut recipient = texts(9);
        let ending = poll_fn(|cx| conversation.poll_read_all(cx, &mut recipient)).await;
        assert_eq!((ending, &*recipient.all), (expected, &["one".to_owned()][..]));
        conversation.queue(Opcode::Text, b"answer").unwrap();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(conversation.poll_leave(&mut cx, LONG).is_pending());
        assert!(conversation.answer_ending() && !conversation.answer_ending());
        poll_fn(|cx| conversation.poll_leave(cx, LONG)).await;
        drop(conversation);
        let said = [session.next().await, session.next().await, session.next().await];
        assert_eq!(said, [Got::Text("answer".to_owned()), Got::close(code), Got::End]);
    }
    check(&close(CloseCode::GOING_AWAY, ""), closed(1001), 1001).await;
    let reserved = ReceiveError::Protocol(DecodeError::ReservedOpcode(3));
    check(&[0x83, 0], reserved, 1002).await;
    let invalid = ReceiveError::Protocol(DecodeError::InvalidUtf8);
    check(&frame(Opcode::Text, b"\xff"), invalid, 1007).await;
}

#[tokio::test]
async fn an_ending_without_a_close_needs_no_answer() {
    let (session, conversation) = begun(b"").await;
    let mut conversation = conversation.answering_later();
    drop(session);
    let ending = poll_fn(|cx| conversation.poll_read_all(cx, &mut Discard)).await;
    assert_eq!(ending, ReceiveError::Ended);
    assert!(!conversation.answer_ending());
    poll_fn(|cx| conversation.poll_leave(cx, LONG)).await;
}
