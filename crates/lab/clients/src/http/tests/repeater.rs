//! The repeater against a scripted server.

use std::{cell::Cell, rc::Rc, sync::Arc};

use tokio::join;

use super::{
    super::*,
    peer::{self, Peer, settings},
};

const OK: &str = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 2\r\n\r\nhi";

async fn connections(request: &Request) -> Rc<Connections> {
    let settings = Arc::new(settings());
    let template = Template::prepare(request, Version::Http11, &settings)
        .await
        .unwrap();
    Connections::new(Arc::new(template), settings, None)
}

/// `status length reused repeated`, or the error.
fn words(attempt: &Attempt) -> String {
    match &attempt.outcome {
        Err(error) => error.to_string(),
        Ok(reply) => {
            let mut words = format!("{} {}", reply.status, reply.n_body_bytes);
            for (is_so, word) in [(attempt.is_reused, " reused"), (attempt.is_repeated, " repeated")] {
                words += if is_so { word } else { "" };
            }
            words
        }
    }
}

/// The outcomes of consecutive requests, and the requests that the server got.
async fn exchange(method: Method, served: &[&[&str]], n: usize) -> (Vec<String>, Vec<String>) {
    let peer = Peer::bind().await;
    let connections = connections(&peer.request(method, "/x", "")).await;
    let work = async {
        let mut outcomes = Vec::new();
        let repeater = connections.repeaters(1).next().unwrap();
        for _ in 0..n {
            outcomes.push(words(&repeater.send(false).await));
        }
        outcomes
    };
    let (requests, outcomes) = join!(peer.serve(served), work);
    (outcomes, requests)
}

#[tokio::test]
async fn the_same_request_goes_over_the_same_connection() {
    let (outcomes, requests) = exchange(Method::GET, &[&[OK, OK, OK]], 3).await;
    assert_eq!(outcomes, ["200 2", "200 2 reused", "200 2 reused"]);
    assert!(
        requests[0].starts_with("GET /x HTTP/1.1\r\nHost: 127.0.0.1:"),
        "{requests:?}"
    );
    assert!(
        requests.iter().all(|request| *request == requests[0]),
        "{requests:?}"
    );
}

#[tokio::test]
async fn a_connection_that_ends_as_a_request_goes_out_is_replaced_where_that_is_harmless() {
    // An empty answer sends nothing: the connection ends when the second request has arrived.
    let (outcomes, _) = exchange(Method::GET, &[&[OK, ""], &[OK]], 2).await;
    assert_eq!(outcomes, ["200 2", "200 2 repeated"]);
    let (outcomes, requests) = exchange(Method::POST, &[&[OK, ""]], 2).await;
    assert!(outcomes[1].starts_with("EOF"), "{outcomes:?}");
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn the_connection_that_was_used_last_is_used_next() {
    let peer = Peer::bind().await;
    let connections = connections(&peer.get("/")).await;
    let repeaters: Vec<_> = connections.repeaters(2).collect();
    let work = async {
        // Two concurrent requests need two connections, consecutive ones only one.
        let (first, second) = join!(repeaters[0].send(false), repeaters[1].send(false));
        let mut outcomes = vec![words(&first), words(&second)];
        for repeater in [&repeaters[0], &repeaters[1], &repeaters[0]] {
            outcomes.push(words(&repeater.send(false).await));
        }
        outcomes
    };
    let served = [Cell::new(0), Cell::new(0)];
    let serve = async |n: &Cell<u32>| {
        let mut stream = peer.accept().await;
        loop {
            peer::answer(&mut stream, OK).await;
            n.set(n.get() + 1);
        }
    };
    let outcomes = tokio::select! {
        outcomes = work => outcomes,
        () = serve(&served[0]) => unreachable!("it never ends"),
        () = serve(&served[1]) => unreachable!("it never ends"),
    };
    assert_eq!(
        outcomes,
        ["200 2", "200 2", "200 2 reused", "200 2 reused", "200 2 reused"]
    );
    let mut served = served.map(|n| n.get());
    served.sort_unstable();
    assert_eq!(served, [1, 4]);
}

#[tokio::test]
async fn details_are_there_when_they_are_wanted() {
    let peer = Peer::bind().await;
    let connections = connections(&peer.get("/")).await;
    let repeater = connections.repeaters(1).next().unwrap();
    let work = async { (repeater.send(true).await, repeater.send(false).await) };
    let (_, (with, without)) = join!(peer.serve(&[&[OK, OK]]), work);
    let details = |attempt: Attempt| attempt.outcome.unwrap().details;
    assert_eq!(details(with).unwrap().headers.text("server"), Some("x"));
    assert!(details(without).is_none());
    assert_eq!(connections.take_traffic().1, 2 * OK.len() as u64);
}
