//! What answers mean, from a server that is really there.

use std::error::Error;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

/// Sends one request to a server that gives this answer.
async fn posted(answer: &'static str, limit: Duration) -> (Result<Bytes, Refusal>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        let mut request = vec![0; 4096];
        let mut n = 0;
        while !request[..n].ends_with(b"figures") {
            n += stream.read(&mut request[n..]).await?;
        }
        stream.write_all(answer.as_bytes()).await?;
        if answer.is_empty() {
            // The client gives up and closes.
            stream.read_to_end(&mut Vec::new()).await?;
        }
        let request = String::from_utf8(request[..n].to_vec())?;
        Ok::<_, Box<dyn Error + Send + Sync>>(request)
    });
    let url = format!("http://{address}/write?a=b").parse().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("x-scope-orgid", "team".parse().unwrap());
    let tls = plimsoll_trust::believing(rustls::RootCertStore::empty()).with_no_client_auth();
    let post = Post::new(url, headers, tls, limit);
    let result = post.send(Bytes::from_static(b"figures")).await;
    let result = result.map_err(|refusal| Refusal {
        reason: refusal.reason.replace(&address.to_string(), "HOST"),
        ..refusal
    });
    drop(post);
    (result, serving.await.unwrap().unwrap())
}

async fn check(answer: &'static str, expected: Result<&str, (bool, Option<u64>, &str)>) {
    let (result, _) = posted(answer, Duration::from_secs(60)).await;
    let expected = expected.map_err(|(is_temporary, secs, reason)| Refusal {
        is_temporary,
        retry_after: secs.map(Duration::from_secs),
        reason: reason.to_owned(),
    });
    assert_eq!(
        result.as_deref().map_err(Clone::clone),
        expected
            .as_ref()
            .map(|text| text.as_bytes())
            .map_err(Clone::clone)
    );
}

#[tokio::test]
async fn answers_say_whether_to_try_again() {
    let url = "http://HOST/write?a=b";
    check("HTTP/1.1 204 No Content\r\n\r\n", Ok("")).await;
    check("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone", Ok("done")).await;
    let text = format!("{url} answered 400 Bad Request: out of order sample");
    check(
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 21\r\n\r\nout of order\n  sample\n",
        Err((false, None, &text)),
    )
    .await;
    let text = format!("{url} answered 429 Too Many Requests: ");
    check(
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
        Err((true, Some(7), &text)),
    )
    .await;
    let text = format!("{url} answered 503 Service Unavailable: ");
    check(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: Sun, 22 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
        Err((true, None, &text)),
    )
    .await;
}

#[tokio::test]
async fn the_request_has_the_headers_and_the_path() {
    let (_, request) = posted("HTTP/1.1 204 No Content\r\n\r\n", Duration::from_secs(60)).await;
    assert!(request.starts_with("POST /write?a=b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nx-scope-orgid: team\r\n"), "{request}");
}

#[tokio::test]
async fn no_answer_is_a_refusal_that_may_pass() {
    let (result, _) = posted("", Duration::from_millis(50)).await;
    let refusal = result.unwrap_err();
    assert_eq!(refusal.reason, "http://HOST/write?a=b: no answer within 50ms");
    assert!(refusal.is_temporary);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_with_the_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let tls = plimsoll_trust::believing(rustls::RootCertStore::empty()).with_no_client_auth();
    let post = Post::new(
        url.parse().unwrap(),
        HeaderMap::new(),
        tls,
        Duration::from_secs(60),
    );
    let refusal = post.send(Bytes::new()).await.unwrap_err();
    assert!(refusal.is_temporary);
    assert!(
        refusal.reason.contains("Connection refused"),
        "{}",
        refusal.reason
    );
}
