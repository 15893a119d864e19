//! The scripts as text; `tests/foreign/probe.test.mjs` runs them.

use expect_test::expect;
use serde_json::json;

use super::*;
use crate::{Authentication, SubProtocols, TlsFinding};

fn findings(kind: Kind) -> Findings {
    Findings {
        url: "wss://chat.example/cable?%CHANNEL%".to_owned(),
        kind,
        status: Some(101),
        sub_protocols: Some(SubProtocols {
            agreed: vec!["chat".to_owned()],
            ..SubProtocols::default()
        }),
        authentication: Authentication::NotNeeded,
        tls: Some(TlsFinding {
            is_verified: false,
            reason: None,
        }),
        n_connections: 1,
        seconds: 1.0,
        ..Findings::before("wss://chat.example/cable".to_owned())
    }
}

#[test]
fn a_script_has_the_findings_and_no_secrets() {
    let parameters = Parameters {
        channel: "ChatChannel".to_owned(),
        parameters: Some(json!({ "id": "100 %URL%" })),
        header_names: vec!["Cookie".to_owned(), "X-Api-Token".to_owned()],
        origin: Some("https://chat.example".to_owned()),
    };
    let script = write(&findings(Kind::Anycable), &parameters).unwrap();
    expect![[r#"
        import cable from "k6/x/cable";
        import { check, fail, sleep } from "k6";

        // Written by `plimsoll probe`. For another server: plimsoll run -e URL=… FILE
        const URL = __ENV.URL || "wss://chat.example/cable?\u0025CHANNEL\u0025";
        const HEADERS = {
          "Origin": "https://chat.example",
          "Cookie": __ENV.HEADER_COOKIE || "",
          "X-Api-Token": __ENV.HEADER_X_API_TOKEN || "",
        };

        export const options = {
          vus: 10,
          duration: "10s",
          thresholds: { checks: ["rate>0.99"] },
          // The certificate was not accepted, or not verified.
          insecureSkipTLSVerify: true,
        };

        // The channel to subscribe to, and its parameters. Without a channel, users only connect.
        const CHANNEL = __ENV.CHANNEL || "ChatChannel";
        const PARAMETERS = {"id":"100 \u0025URL\u0025"};
    "#]]
    .assert_eq(script.split_once("\nexport default").unwrap().0);
}

#[test]
fn every_placeholder_is_replaced() {
    for kind in [
        Kind::ActionCable,
        Kind::Anycable,
        Kind::SocketIo,
        Kind::Phoenix,
        Kind::Pusher,
        Kind::Echo,
        Kind::Websocket,
        Kind::Http,
        Kind::Grpc,
    ] {
        let script = write(&findings(kind), &Parameters::default()).unwrap();
        assert!(!script.contains('%'), "{kind:?}: {script}");
    }
    for kind in [Kind::Sse, Kind::Unknown, Kind::Nothing] {
        assert_eq!(write(&findings(kind), &Parameters::default()), None);
    }
}

#[test]
fn the_sub_protocol_and_the_scheme_fit_the_kind() {
    let script = write(&findings(Kind::Websocket), &Parameters::default()).unwrap();
    assert!(script.contains(r#""Sec-WebSocket-Protocol": "chat""#), "{script}");
    let script = write(&findings(Kind::Http), &Parameters::default()).unwrap();
    assert!(script.contains(r#""https://chat.example/"#), "{script}");
}
