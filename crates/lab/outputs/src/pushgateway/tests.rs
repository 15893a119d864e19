//! Addresses, and pushes to a server that is really there.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;

fn address(url: &str) -> PushgatewayAddress<'_> {
    PushgatewayAddress {
        url,
        job: "a-1/2",
        authorities: None,
    }
}

#[test]
fn addresses_are_read() {
    let check = |url: &str, expected: Option<(&str, Option<&str>)>| {
        let found = split(address(url));
        let found = found.map(|(url, authorization)| {
            let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
            (url.to_string(), authorization)
        });
        let expected =
            expected.map(|(url, authorization)| (url.to_owned(), authorization.map(str::to_owned)));
        assert_eq!(found, expected, "{url}");
    };
    check(
        "http://localhost:9091",
        Some(("http://localhost:9091/metrics/job/a-1%2F2", None)),
    );
    check(
        "https://gw.test/push/",
        Some(("https://gw.test/push/metrics/job/a-1%2F2", None)),
    );
    check(
        "http://u:p%40@[::1]:9091/",
        Some(("http://[::1]:9091/metrics/job/a-1%2F2", Some("Basic dTpwQA=="))),
    );
    check("gw.test:9091", None);
    check("ftp://gw.test", None);
    check("http://", None);
}

#[test]
fn errors_hide_the_url() {
    let error = Pushgateway::new(address("u:secret@gw.test")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "pushgateway=`***`: expected a URL, for example `http://localhost:9091`"
    );
    let error = Pushgateway::new(PushgatewayAddress {
        authorities: Some("absent.pem"),
        ..address("https://u:secret@gw.test")
    });
    let error = error.err().unwrap().to_string();
    assert!(error.starts_with("ca=`absent.pem`: "), "{error}");
}

/// The body of the next push.
async fn pushed(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b" end\n") {
        stream.read_buf(&mut request).await.unwrap();
    }
    let request = String::from_utf8(request).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("POST /metrics/job/a-1%2F2 HTTP/1.1\r\n"),
        "{head}"
    );
    (stream, body.to_owned())
}

const DONE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn the_newest_figures_are_pushed_and_the_last_ones_always() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let pushing = Pushgateway::new(address(&url)).unwrap().begin();
    pushing.push("1 end\n".to_owned());
    let (mut first, body) = pushed(&listener).await;
    assert_eq!(body, "1 end\n");
    // The first push is still in progress.
    pushing.push("2 end\n".to_owned());
    pushing.push("3 end\n".to_owned());
    first.write_all(DONE).await.unwrap();
    let end = tokio::spawn(pushing.finish());
    let (mut last, body) = pushed(&listener).await;
    assert_eq!(body, "3 end\n");
    last.write_all(DONE).await.unwrap();
    end.await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_ends_nothing() {
    let pushing = Pushgateway::new(address("http://127.0.0.1:1")).unwrap().begin();
    pushing.push("1 end\n".to_owned());
    pushing.finish().await;
}
