//! Collectors that are really there, or not.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Response};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use prost::Message;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{LOCAL, encoded};
use crate::{post::Refusal, push::Database};

/// What a collector got: path, headers, message.
type Received = (String, HeaderMap, ExportMetricsServiceRequest);

fn received(path: &str, headers: &HeaderMap, message: &[u8]) -> Received {
    (
        path.to_owned(),
        headers.clone(),
        ExportMetricsServiceRequest::decode(message).unwrap(),
    )
}

/// A collector over gRPC that accepts one request; `status` is its final status.
async fn serve_grpc(
    stream: TcpStream,
    answer: ExportMetricsServiceResponse,
    status: &'static str,
) -> Received {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let (request, mut respond) = connection.accept().await.unwrap().unwrap();
    let (head, mut body) = request.into_parts();
    let serving = tokio::spawn(async move { while connection.accept().await.is_some() {} });
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        bytes.extend_from_slice(&chunk);
    }
    let response = Response::builder()
        .header("content-type", "application/grpc")
        .body(())
        .unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    if status == "0" {
        // A message begins with a flag (not compressed) and its length.
        let mut frame = BytesMut::new();
        frame.put_u8(0);
        frame.put_u32(u32::try_from(answer.encoded_len()).unwrap());
        answer.encode(&mut frame).unwrap();
        stream.send_data(frame.freeze(), false).unwrap();
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.parse().unwrap());
    trailers.insert("grpc-message", "over quota".parse().unwrap());
    stream.send_trailers(trailers).unwrap();
    serving.await.unwrap();
    received(head.uri.path(), &head.headers, &bytes[5..])
}

/// Sends one gauge to a collector. Returns what it received, and the result.
async fn over_grpc(
    answer: ExportMetricsServiceResponse,
    status: &'static str,
) -> (Received, Result<(), Refusal>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let env = [
        LOCAL,
        ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &*address),
        ("K6_OTEL_HEADERS", "x-team=a"),
    ];
    let (collector, requests) = encoded(&env, &[("vus", 1.0, &[])]);
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve_grpc(stream, answer, status).await
    });
    let result = collector.send(&requests[0]).await;
    drop(collector);
    let result = result.map_err(|refusal| Refusal {
        reason: refusal.reason.replace(&address, "HOST"),
        ..refusal
    });
    let received = serving.await.unwrap();
    assert_eq!(received.2, requests[0]);
    (received, result)
}

#[tokio::test]
async fn a_collector_over_grpc_gets_path_headers_and_message() {
    let ((path, headers, _), result) = over_grpc(ExportMetricsServiceResponse::default(), "0").await;
    assert_eq!(
        path,
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    );
    assert_eq!(headers["x-team"], "a");
    assert_eq!(result, Ok(()));
}

#[tokio::test]
async fn what_a_collector_says_decides_whether_to_try_again() {
    for (status, is_temporary, code) in [("8", true, "ResourceExhausted"), ("3", false, "InvalidArgument")] {
        let (_, result) = over_grpc(ExportMetricsServiceResponse::default(), status).await;
        let refusal = result.unwrap_err();
        assert_eq!(refusal.is_temporary, is_temporary);
        assert_eq!(
            refusal.reason,
            format!("http://HOST/ answered {code}: over quota")
        );
    }
}

#[tokio::test]
async fn a_collector_that_takes_a_part_is_heard() {
    let answer = ExportMetricsServiceResponse {
        partial_success: Some(ExportMetricsPartialSuccess {
            rejected_data_points: 3,
            error_message: "too old".to_owned(),
        }),
    };
    let (_, result) = over_grpc(answer, "0").await;
    let refusal = result.unwrap_err();
    assert_eq!(refusal.reason, "the collector refused 3 values: too old");
    assert!(!refusal.is_temporary);
}

#[tokio::test]
async fn a_collector_that_is_not_there_is_named_with_the_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let env = [LOCAL, ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &*address)];
    let (collector, requests) = encoded(&env, &[("vus", 1.0, &[])]);
    let refusal = collector.send(&requests[0]).await.unwrap_err();
    assert!(refusal.is_temporary);
    assert!(
        refusal.reason.contains("Connection refused"),
        "{}",
        refusal.reason
    );
}

#[tokio::test]
async fn a_collector_over_http_gets_the_message_in_a_post() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
    ];
    let (collector, requests) = encoded(&env, &[("vus", 1.0, &[])]);
    let message = Bytes::from(requests[0].encode_to_vec());
    let expected = message.clone();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(&expected) {
            stream.read_buf(&mut request).await.unwrap();
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .await
            .unwrap();
        request
    });
    assert_eq!(collector.send(&requests[0]).await, Ok(()));
    let request = serving.await.unwrap();
    let head = String::from_utf8_lossy(&request[..request.len() - message.len()]).into_owned();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("\r\ncontent-type: application/x-protobuf\r\n"),
        "{head}"
    );
}
