//! HTTP/1.1 on a real socket.

use std::{cell::RefCell, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    join,
    net::TcpStream,
};

use super::{
    super::*,
    peer::{Peer, client, outcome, read_request, send, settings},
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[tokio::test]
async fn a_connection_is_used_again() {
    let (peer, client) = (Peer::bind().await, client());
    let work = async {
        let post = peer.request(Method::POST, "/b", "body");
        let first = send(&client, &peer.get("/a?x")).await;
        let second = client.send(&post, None, drop).await;
        let timings = second.timings;
        assert_eq!((timings.connecting, timings.tls_handshaking), Default::default());
        assert!(timings.sending > Duration::ZERO && timings.waiting > Duration::ZERO);
        (first, outcome(&second))
    };
    let (requests, (first, second)) = join!(peer.serve(&[&[OK, OK]]), work);
    assert_eq!((first.as_str(), second.as_str()), ("200 hi", "200 hi"));
    let host = peer.address;
    let expected = [
        format!("GET /a?x HTTP/1.1\r\nHost: {host}\r\nUser-Agent: test\r\n\r\n"),
        format!("POST /b HTTP/1.1\r\nHost: {host}\r\nUser-Agent: test\r\nContent-Length: 4\r\n\r\nbody"),
    ];
    let n_sent = requests.concat().len() as u64;
    assert_eq!(requests, expected);
    assert_eq!(client.take_traffic(), (n_sent, 2 * OK.len() as u64));
}

#[tokio::test]
async fn an_exchange_knows_its_phases() {
    let (peer, client) = (Peer::bind().await, client());
    let server = async {
        let mut stream = peer.accept().await;
        read_request(&mut stream).await;
        stream.write_all(&OK.as_bytes()[..OK.len() - 1]).await.unwrap();
        stream.write_all(b"i").await.unwrap();
    };
    let request = peer.get("/");
    let (exchange, ()) = join!(client.send(&request, None, drop), server);
    let timings = exchange.timings;
    assert!(
        timings.connecting > Duration::ZERO && timings.connecting <= timings.blocked,
        "{timings:?}"
    );
    assert!(
        timings.sending > Duration::ZERO && timings.waiting > Duration::ZERO,
        "{timings:?}"
    );
    assert_eq!(timings.tls_handshaking, Duration::ZERO);
    assert_eq!(
        timings.ended - timings.started,
        timings.blocked + timings.duration()
    );
    assert_eq!(exchange.remote, Some(peer.address));
    assert_eq!(exchange.tls, None);
    assert!(exchange.request_head.starts_with(b"GET / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_connection_that_was_closed_is_replaced() {
    let (peer, client) = (Peer::bind().await, client());
    let post = peer.request(Method::POST, "/", "x");
    let work = async {
        let first = send(&client, &post).await;
        // The end has arrived when the next one listens.
        let mut probe = TcpStream::connect(peer.address).await.unwrap();
        assert_eq!(probe.read(&mut [0]).await.unwrap(), 0);
        (first, send(&client, &post).await)
    };
    let server = peer.serve(&[&[OK], &[], &[OK]]);
    let (requests, outcomes) = join!(server, work);
    assert_eq!(outcomes, ("200 hi".to_owned(), "200 hi".to_owned()));
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn only_what_may_be_repeated_is_repeated() {
    let check = async |method: Method, connections: &[&[&str]], expected: &str| {
        let (peer, client) = (Peer::bind().await, client());
        let request = peer.request(method, "/", "");
        let work = async {
            assert_eq!(send(&client, &request).await, "200 hi");
            send(&client, &request).await
        };
        // The first connection ends when the second request has come, without an answer.
        let (_, second) = join!(peer.serve(connections), work);
        assert_eq!(second, expected);
    };
    check(Method::GET, &[&[OK, ""], &[OK]], "200 hi").await;
    let ended = "1000 unexpected EOF: the server ended the connection before the end of its response";
    let unanswered = "1000 EOF: the server ended the connection without a response";
    check(Method::POST, &[&[OK, ""]], unanswered).await;
    check(Method::GET, &[&[OK, "HTTP/1.1 200"]], ended).await;
}

#[tokio::test]
async fn connections_are_not_kept_where_nobody_wants_them() {
    let check = async |settings: Settings, header: &str, answer: &str| {
        let (peer, client) = (Peer::bind().await, Client::new(Arc::new(settings), None));
        let mut request = peer.get("/");
        request.headers.push(("Connection".to_owned(), header.to_owned()));
        let work = async {
            send(&client, &request).await;
            send(&client, &request).await
        };
        let (requests, second) = join!(peer.serve(&[&[answer], &[answer]]), work);
        assert_eq!((requests.len(), second.as_str()), (2, "200 hi"));
    };
    let never = Settings {
        reuse_connections: false,
        ..settings()
    };
    check(never, "keep-alive", OK).await;
    check(settings(), "close", OK).await;
    let close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    check(settings(), "keep-alive", close).await;
}

#[tokio::test]
async fn redirects_are_followed_and_each_is_an_exchange() {
    let (peer, client) = (Peer::bind().await, client());
    let jar = RefCell::new(CookieJar::default());
    let mut request = peer.request(Method::POST, "/1", "body");
    request.cookies.push(RequestCookie {
        name: "own".into(),
        value: "1".into(),
        replace: false,
    });
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /2\r\nSet-Cookie: sid=7\r\nContent-Length: 4\r\n\r\ngone";
    let hops = RefCell::new(Vec::new());
    let work = client.send(&request, Some(&jar), |hop| {
        hops.borrow_mut()
            .push(format!("{} {}", hop.url.path(), outcome(&hop)));
    });
    let (requests, last) = join!(peer.serve(&[&[redirect, OK]]), work);
    assert_eq!(hops.into_inner(), ["/1 302 gone"]);
    assert_eq!((last.url.path(), outcome(&last)), ("/2", "200 hi".to_owned()));
    assert!(requests[0].contains("\r\nCookie: own=1\r\n"), "{}", requests[0]);
    assert!(requests[1].starts_with("GET /2 HTTP/1.1\r\n"), "{}", requests[1]);
    assert!(requests[1].contains(&format!("\r\nReferer: http://{}/1\r\n", peer.address)));
    assert!(
        requests[1].ends_with("\r\nCookie: own=1; sid=7\r\n\r\n"),
        "{}",
        requests[1]
    );
    request.cookies[0].name = "sid".into();
    request.cookies[0].replace = true;
    let (requests, _) = join!(peer.serve(&[&[OK]]), client.send(&request, Some(&jar), drop));
    assert!(requests[0].contains("\r\nCookie: sid=1\r\n"), "{}", requests[0]);
}

#[tokio::test]
async fn the_last_redirect_is_the_answer() {
    let (peer, client) = (Peer::bind().await, client());
    let redirect = "HTTP/1.1 301 Moved Permanently\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    let request = Request {
        max_redirects: 2,
        ..peer.get("/")
    };
    let mut n_hops = 0;
    let work = client.send(&request, None, |_| n_hops += 1);
    let (_, last) = join!(peer.serve(&[&[redirect; 3]]), work);
    assert_eq!((n_hops, outcome(&last).as_str()), (2, "301 "));
    let astray = "HTTP/1.1 302 Found\r\nLocation: ftp://x/\r\nContent-Length: 0\r\n\r\n";
    let (_, last) = join!(peer.serve(&[&[astray]]), client.send(&request, None, drop));
    assert_eq!(outcome(&last), "1000 unsupported protocol scheme \"ftp\"");
}

#[tokio::test]
async fn users_prove_who_they_are() {
    let (peer, client) = (Peer::bind().await, client());
    let mut request = peer.get("/x");
    request.url.set_username("a%20b").unwrap();
    request.url.set_password(Some("c")).unwrap();
    let (requests, _) = join!(peer.serve(&[&[OK]]), client.send(&request, None, drop));
    assert!(
        requests[0].contains("\r\nAuthorization: Basic YSBiOmM=\r\n"),
        "{}",
        requests[0]
    );
    assert!(!requests[0].contains('@'), "{}", requests[0]);
    request.authentication = Authentication::Digest;
    let challenge = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n\
                     Content-Length: 0\r\n\r\n";
    client.close_idle();
    let mut hops = Vec::new();
    let work = client.send(&request, None, |hop| {
        hops.push((hop.challenge, outcome(&hop)));
    });
    let (requests, last) = join!(peer.serve(&[&[challenge, OK]]), work);
    assert_eq!(hops, [(Expectation::Certain, "401 ".to_owned())]);
    assert_eq!(
        (last.challenge, outcome(&last).as_str()),
        (Expectation::None, "200 hi")
    );
    assert!(!requests[0].contains("Authorization"), "{}", requests[0]);
    assert!(
        requests[1].contains("Authorization: Digest username=\"a b\", realm=\"r\""),
        "{}",
        requests[1]
    );
    let basic = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";
    let (_, last) = join!(peer.serve(&[&[basic]]), client.send(&request, None, drop));
    assert_eq!(outcome(&last), "401 ");
}

#[tokio::test]
async fn another_host_is_not_told_who_we_are() {
    let (peer, client) = (Peer::bind().await, client());
    let mut request = peer.get("/1");
    request.url.set_username("user").unwrap();
    request.url.set_password(Some("secret")).unwrap();
    let redirect = |to: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: http://{to}:{}/2\r\nContent-Length: 0\r\n\r\n",
            peer.address.port()
        )
    };
    let away = redirect("localhost");
    let (requests, _) = join!(peer.serve(&[&[&away], &[OK]]), client.send(&request, None, drop));
    assert!(
        requests[0].contains("Authorization: Basic") && !requests[1].contains("Authorization"),
        "{requests:?}"
    );
    client.close_idle();
    request.authentication = Authentication::Digest;
    let challenge = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\
                     Content-Length: 0\r\n\r\n";
    let server = peer.serve(&[&[challenge, &away], &[OK]]);
    let (requests, last) = join!(server, client.send(&request, None, drop));
    assert_eq!(outcome(&last), "200 hi");
    assert!(
        requests[1].contains("Authorization: Digest") && !requests[2].contains("Authorization"),
        "{requests:?}"
    );
}

#[tokio::test]
async fn only_so_many_connections_are_kept() {
    let check = async |max_idle: usize, max_idle_per_host: usize| {
        let settings = Settings {
            max_idle,
            max_idle_per_host,
            ..settings()
        };
        let (peer, client) = (Peer::bind().await, Client::new(Arc::new(settings), None));
        let requests = ["/1", "/2", "/3"].map(|path| peer.get(path));
        let server = async {
            let mut streams = [peer.accept().await, peer.accept().await, peer.accept().await];
            for stream in &mut streams {
                read_request(stream).await;
                stream.write_all(OK.as_bytes()).await.unwrap();
            }
            streams
        };
        let send = |request| send(&client, request);
        let work = async { join!(send(&requests[0]), send(&requests[1]), send(&requests[2])) };
        let (mut streams, _) = join!(server, work);
        let [one, two, three] = &mut streams;
        // Each returns what it reads first: the end, or the next request.
        let again = client.send(&requests[0], None, drop);
        let first = async |stream: &mut TcpStream| {
            let n_read = stream.read(&mut [0; 500]).await.unwrap();
            if n_read > 0 {
                stream.write_all(OK.as_bytes()).await.unwrap();
            }
            n_read > 0
        };
        let all = async { join!(first(one), first(two), first(three), again) };
        let told = tokio::time::timeout(Duration::from_secs(5), all).await;
        let (one, two, three, _) = told.expect("two of them were closed");
        let kept = [one, two, three].iter().filter(|&&kept| kept).count();
        assert_eq!(kept, 1, "{max_idle} {max_idle_per_host}");
    };
    check(20, 1).await;
    check(1, 6).await;
}

#[tokio::test]
async fn a_value_of_a_cookie_is_no_other_cookie() {
    let (peer, client) = (Peer::bind().await, client());
    let mut request = peer.get("/");
    request.headers.push(("cookie".into(), "own=0".into()));
    let cookies = [("a", "1; admin=1"), ("b", "2\r\nX: y"), ("c", "3 4")];
    request.cookies.extend(cookies.map(|(name, value)| RequestCookie {
        name: name.into(),
        value: value.into(),
        replace: false,
    }));
    let (requests, _) = join!(peer.serve(&[&[OK]]), client.send(&request, None, drop));
    let expected = "\r\nCookie: own=0; a=\"1 admin=1\"; b=\"2X: y\"; c=\"3 4\"\r\n\r\n";
    assert!(requests[0].ends_with(expected), "{}", requests[0]);
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_longer_than_allowed() {
    let (peer, client) = (Peer::bind().await, client());
    let request = Request {
        timeout: Duration::from_millis(20),
        ..peer.get("/")
    };
    let server = async {
        let mut stream = peer.accept().await;
        read_request(&mut stream).await;
        // Held until the client leaves.
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    };
    let (exchange, ()) = join!(client.send(&request, None, drop), server);
    assert_eq!(outcome(&exchange), "1050 request timeout");
    let timings = exchange.timings;
    assert!(
        timings.waiting > Duration::ZERO && timings.receiving == Duration::ZERO,
        "{timings:?}"
    );
    assert!(timings.ended - timings.started >= request.timeout);
}

#[tokio::test]
async fn failures_have_numbers() {
    let check = async |answer: &str, expected: &str| {
        let (peer, client) = (Peer::bind().await, client());
        let request = peer.get("/");
        let (_, exchange) = join!(peer.serve(&[&[answer]]), client.send(&request, None, drop));
        let outcome = outcome(&exchange);
        assert!(outcome.starts_with(expected), "{outcome}");
    };
    check("SSH-2.0\r\n\r\n", "1000 malformed HTTP response").await;
    check(
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "1000 unsupported response status: 101",
    )
    .await;
    check(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
        "1701 decompressing",
    )
    .await;
    let peer = Peer::bind().await;
    let request = peer.get("/");
    drop(peer);
    assert!(
        send(&client(), &request)
            .await
            .starts_with("1212 dial 127.0.0.1:")
    );
    let mut request = request;
    request.url = "ftp://a/".parse().unwrap();
    assert_eq!(
        send(&client(), &request).await,
        "1000 unsupported protocol scheme \"ftp\""
    );
    request.url = "http://plimsoll.invalid/".parse().unwrap();
    let outcome = send(&client(), &request).await;
    assert!(outcome.starts_with("110"), "{outcome}");
}

#[tokio::test]
async fn bodies_are_decoded_or_dropped() {
    let (peer, client) = (Peer::bind().await, client());
    let body = Coding::Gzip.encode(b"hello");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), &body].concat();
    let server = async {
        let mut stream = peer.accept().await;
        for _ in 0..2 {
            read_request(&mut stream).await;
            stream.write_all(&answer).await.unwrap();
        }
    };
    let work = async {
        let dropped = Request {
            keep: Keep::Nothing,
            ..peer.get("/")
        };
        (send(&client, &peer.get("/")).await, send(&client, &dropped).await)
    };
    let ((), outcomes) = join!(server, work);
    assert_eq!(outcomes, ("200 hello".to_owned(), "200 ".to_owned()));
}

#[tokio::test]
async fn an_early_answer_is_read() {
    let (peer, client) = (Peer::bind().await, client());
    // Larger than the system's buffers, so that the request can never be written completely.
    let body = "x".repeat(32 << 20);
    let request = peer.request(Method::POST, "/", &body);
    let server = async {
        let mut stream = peer.accept().await;
        stream.readable().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nno")
            .await
            .unwrap();
        stream
    };
    let (_stream, exchange) = join!(server, client.send(&request, None, drop));
    assert_eq!(outcome(&exchange), "413 no");
    // The connection is not reused: a new one arrives.
    let request = peer.get("/");
    tokio::select! {
        _ = client.send(&request, None, drop) => unreachable!("nobody answers"),
        _ = peer.accept() => {}
    }
}
