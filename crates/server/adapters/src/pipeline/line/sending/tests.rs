//! Sending over a connection whose other end takes as much as the test says.

use std::{pin::pin, time::Duration};

use futures_util::FutureExt;
use proptest::prelude::*;
use tokio::{
    io::{AsyncReadExt, DuplexStream},
    runtime::Builder,
};

use super::*;
use crate::connection::Connection;

/// What the task of a connection needs, and the other end.
struct Peer {
    outgoing: Option<Outgoing>,
    due: mpsc::Receiver<Due>,
    end: DuplexStream,
}

fn peer(capacity: usize, replication: Option<Replication>) -> Peer {
    let (end, near) = tokio::io::duplex(capacity);
    let (in_flight, due) = mpsc::channel(MAX_IN_FLIGHT);
    let outgoing = Outgoing::new(Connection::over(near).writer, Vec::new(), replication, in_flight);
    Peer {
        outgoing: Some(outgoing),
        due,
        end,
    }
}

impl Peer {
    /// The bytes that are there.
    fn sent(&mut self) -> String {
        let mut bytes = vec![0; 1 << 16];
        let read = self.end.read(&mut bytes).now_or_never();
        let n = read.map_or(0, |read| read.expect("the other end is there"));
        String::from_utf8(bytes[..n].to_vec()).expect("commands are text")
    }

    fn n_under_way(&mut self) -> usize {
        self.due.len()
    }
}

fn get(key: usize) -> Arc<Request> {
    Arc::new(Request::Command(cmd("GET").arg(key).to_owned()))
}

fn packed(key: usize) -> String {
    let key = key.to_string();
    format!("*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len())
}

type Answered = oneshot::Receiver<Result<crate::resp::Reply, LineError>>;

fn send_as(sending: &Sending, key: usize, is_replicated: bool) -> Answered {
    let (answer, answered) = oneshot::channel();
    let manner = Manner {
        is_replicated,
        ..Manner::default()
    };
    let sent = sending.send(get(key), manner, answer).now_or_never();
    sent.expect("there is room").expect("the line goes on");
    answered
}

fn send(sending: &Sending, key: usize) -> Answered {
    send_as(sending, key, false)
}

#[tokio::test]
async fn a_caller_sends_its_request_itself_while_few_are_under_way() {
    let (sending, mut peer) = (Sending::new(), peer(1 << 16, None));
    let mut task = pin!(sending.write(peer.outgoing.take().expect("it is new")));
    assert!(task.as_mut().now_or_never().is_none());
    let mut answers = Vec::new();
    for key in 0..MANY {
        answers.push(send(&sending, key));
        assert_eq!(peer.sent(), packed(key));
    }
    answers.extend([MANY, MANY + 1].map(|key| send(&sending, key)));
    assert_eq!(peer.sent(), "");
    assert!(task.as_mut().now_or_never().is_none());
    assert_eq!(peer.sent(), packed(MANY) + &packed(MANY + 1));
    assert_eq!(peer.n_under_way(), MANY + 2);
    while peer.due.try_recv().is_ok() {}
    answers.push(send(&sending, 9));
    assert_eq!(peer.sent(), packed(9));
}

#[tokio::test]
async fn a_request_that_replicas_must_confirm_is_left_to_the_task() {
    let replication = Replication {
        n_replicas: 1,
        patience: Duration::from_secs(1),
    };
    let (sending, mut peer) = (Sending::new(), peer(1 << 16, Some(replication)));
    let mut task = pin!(sending.write(peer.outgoing.take().expect("it is new")));
    assert!(task.as_mut().now_or_never().is_none());
    let _plain = send(&sending, 1);
    assert_eq!(peer.sent(), packed(1));
    let _replicated = send_as(&sending, 2, true);
    assert_eq!(peer.sent(), "");
    assert!(task.as_mut().now_or_never().is_none());
    let wait = "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$4\r\n1000\r\n";
    assert_eq!(peer.sent(), packed(2) + wait);
    // What comes later waits for the replicas.
    let _later = send(&sending, 3);
    assert!(task.as_mut().now_or_never().is_none());
    assert_eq!(peer.sent(), "");
    while let Ok(due) = peer.due.try_recv() {
        if let Due::Replication(over) = due {
            over.send(()).expect("the task waits");
        }
    }
    assert!(task.as_mut().now_or_never().is_none());
    assert_eq!(peer.sent(), packed(3));
}

#[tokio::test]
async fn requests_wait_for_a_connection_and_those_whose_callers_give_up_are_not_sent() {
    let sending = Sending::new();
    let mut answers: Vec<_> = (0..3).map(|key| send(&sending, key)).collect();
    drop(answers.remove(1));
    let mut first = peer(1 << 16, None);
    let outgoing = first.outgoing.take().expect("it is new");
    assert!(sending.write(outgoing).now_or_never().is_none());
    assert_eq!(first.sent(), packed(0) + &packed(2));
    // That connection is gone.
    let _answer = send(&sending, 3);
    assert_eq!(first.sent(), "");
    let mut second = peer(1 << 16, None);
    let mut task = pin!(sending.write(second.outgoing.take().expect("it is new")));
    assert!(task.as_mut().now_or_never().is_none());
    assert_eq!(second.sent(), packed(3));
}

#[tokio::test]
async fn a_failure_that_a_caller_sees_ends_the_connection() {
    let (sending, mut peer) = (Sending::new(), peer(1 << 16, None));
    let mut task = pin!(sending.write(peer.outgoing.take().expect("it is new")));
    assert!(task.as_mut().now_or_never().is_none());
    drop(peer.end);
    let _answer = send(&sending, 1);
    let failure = task.now_or_never().expect("it has failed");
    assert!(matches!(failure, ConnectionError::Send(_)), "{failure}");
}

#[tokio::test]
async fn a_line_that_has_ended_refuses_requests() {
    let sending = Sending::new();
    let waiting = send(&sending, 1);
    sending.close();
    let refused = waiting.await.expect("it is told");
    assert!(matches!(refused, Err(LineError::Unsent)), "{refused:?}");
    let (answer, _answered) = oneshot::channel();
    let refused = sending.send(get(2), Manner::default(), answer).await;
    assert!(matches!(refused, Err(LineError::Unsent)), "{refused:?}");
}

/// What happens next.
#[derive(Debug, Clone, Copy)]
enum Step {
    Send,
    /// The task goes on as far as it can.
    Work,
    /// The other end reads what is there.
    Read,
    /// A reply comes.
    Reply,
}

proptest! {
    /// However little the connection takes at once, whole requests arrive in the order of the calls.
    #[test]
    fn nothing_is_lost_or_torn(
        capacity in 1..200_usize,
        steps in prop::collection::vec(
            prop_oneof![Just(Step::Send), Just(Step::Work), Just(Step::Read), Just(Step::Reply)],
            0..200
        ),
    ) {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _inside = runtime.enter();
        let (sending, mut peer) = (Sending::new(), peer(capacity, None));
        let mut task = pin!(sending.write(peer.outgoing.take().expect("it is new")));
        let (mut answers, mut expected, mut sent) = (Vec::new(), String::new(), String::new());
        for step in steps {
            match step {
                Step::Send => {
                    expected += &packed(answers.len());
                    answers.push(send(&sending, answers.len()));
                }
                Step::Work => prop_assert!(task.as_mut().now_or_never().is_none()),
                Step::Read => sent += &peer.sent(),
                Step::Reply => drop(peer.due.try_recv()),
            }
        }
        for _ in 0..expected.len() {
            prop_assert!(task.as_mut().now_or_never().is_none());
            sent += &peer.sent();
        }
        prop_assert_eq!(sent, expected);
    }
}
