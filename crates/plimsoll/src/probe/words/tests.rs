//! Findings in words.

use expect_test::{Expect, expect};

use super::*;

const TOKEN: &str = "eyJh.eyJl.c2ln";

/// The findings about a cable server that was asked with a token in its URL.
fn findings() -> Findings {
    let url = format!("ws://h:1/cable?jid={TOKEN}");
    Findings {
        kind: Kind::Anycable,
        status: Some(101),
        authentication: Authentication::Accepted,
        credentials: vec!["?jid".to_owned()],
        n_connections: 1,
        seconds: 1.0,
        ..Findings::before(url)
    }
}

#[test]
fn no_word_shows_a_token() {
    let mut findings = findings();
    findings.problems.push(Problem::Redirect {
        location: format!("wss://h/cable?jid={TOKEN}"),
    });
    let shown = shown(&findings);
    let json = serde_json::to_string(&shown).unwrap();
    let text = [
        title(&shown),
        problem(&shown.problems[0]).0,
        next_steps(&shown, &[]).join("\n"),
        json,
    ];
    let text = text.join("\n");
    assert!(!text.contains("c2ln"), "{text}");
    expect![[r#"
        ws://h:1/cable?jid=*** speaks Action Cable with AnyCable's extensions: it is AnyCable or Plimsoll
        The server redirects to wss://h/cable?jid=***
        use that URL
        plimsoll probe 'ws://h:1/cable?jid=***' --write chat.js --channel ChatChannel    writes a script
        plimsoll line chat.js --slo 'checks rate>0.99'    finds the number of users that the server carries"#]]
    .assert_eq(text.rsplit_once("\n{").unwrap().0);
}

#[test]
fn the_need_for_credentials_is_what_was_tried() {
    let check = |authentication: Authentication, credentials: &[&str], expected: Expect| {
        let findings = Findings {
            authentication,
            credentials: credentials.iter().map(|&name| name.to_owned()).collect(),
            ..findings()
        };
        expected.assert_eq(&self::authentication(&findings).unwrap_or_default());
    };
    check(
        Authentication::NotNeeded,
        &[],
        expect!["not needed to connect; channels may ask for more"],
    );
    check(
        Authentication::Accepted,
        &["?jid"],
        expect!["needed: a client with ?jid is accepted, and a client without is refused"],
    );
    check(
        Authentication::Ignored,
        &["Cookie", "X-Key", "?jid"],
        expect!["not needed to connect: a client without Cookie, X-Key and ?jid gets in, too"],
    );
    check(
        Authentication::Untested,
        &["Cookie"],
        expect!["a client with Cookie is accepted; it is unknown whether one without is"],
    );
    check(
        Authentication::Refused,
        &[],
        expect!["needed: this client was refused"],
    );
    check(
        Authentication::Refused,
        &["?jid"],
        expect!["needed: this client was refused, although it sent ?jid"],
    );
    check(Authentication::Unknown, &[], expect![""]);
}

#[test]
fn a_refused_token_is_to_be_checked() {
    let mut findings = findings();
    findings.authentication = Authentication::Refused;
    findings.problems.push(Problem::Unauthorized {
        status: None,
        challenge: None,
    });
    assert_eq!(
        next_steps(&findings, &[]),
        ["check ?jid: it may have expired, or belong to another server"]
    );
}

#[test]
fn errors_are_no_target_of_a_script() {
    let check = |kind: Kind, status: u16, is_fit: bool| {
        let findings = Findings {
            kind,
            status: Some(status),
            ..findings()
        };
        let reason = unfit_for_a_script(&findings);
        assert_eq!(reason.is_none(), is_fit, "{kind:?} {status}: {reason:?}");
        assert!(!reason.unwrap_or_default().contains(TOKEN));
    };
    for status in [400, 404, 426, 500, 502, 503] {
        check(Kind::Http, status, false);
    }
    check(Kind::Http, 200, true);
    check(Kind::Http, 301, true);
    // gRPC answers an HTTP request with an error, and sockets that open on another path have been refused on this one.
    check(Kind::Grpc, 415, true);
    check(Kind::Anycable, 404, true);
}

#[test]
fn signs_of_life_are_counted() {
    let check = |source: PingSource, seconds: Option<f64>, is_announced: bool, expected: &str| {
        let found = Ping {
            source,
            seconds,
            is_announced,
        };
        assert_eq!(ping(&found), expected);
    };
    let listened = "while this command listened";
    check(
        PingSource::Message,
        None,
        false,
        &format!("one message of the protocol {listened}"),
    );
    check(
        PingSource::Frame,
        None,
        false,
        &format!("one WebSocket ping {listened}"),
    );
    check(
        PingSource::Message,
        Some(3.0),
        false,
        "every 3.0 s, messages of the protocol",
    );
    check(
        PingSource::Message,
        Some(25.0),
        true,
        "announced: every 25 s, messages of the protocol",
    );
}
