//! Connecting: the handshake, the welcome, pings, and the request that the application gets.

use serde::Deserialize;
use tokio::time::Instant;

use super::super::{
    client::{self, Refused},
    handshake::Handshake,
    stage::Stage,
    stop::{Checked, Stop},
};

pub(super) async fn welcome(stage: &Stage<'_>) -> Checked {
    stage.client().await.map(|_client| ())
}

pub(super) async fn ping_timestamps(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let mut last = i64::MIN;
    for _ in 0..2 {
        let ping = client.ping().await?;
        let Ok(now) = ping.payload().parse::<i64>() else {
            return Err(client.unexpected("a ping with an integer as its message", &ping));
        };
        if now <= last {
            return Err(client.unexpected(&format!("a ping with more than {last}"), &ping));
        }
        last = now;
    }
    Ok(())
}

/// Pings of which the intervals are looked at.
const PINGS: usize = 6;

pub(super) async fn ping_interval(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let began = Instant::now();
    let (mut arrivals, mut stamps) = (Vec::new(), Vec::new());
    for _ in 0..PINGS {
        let ping = client.ping().await?;
        arrivals.push(began.elapsed().as_secs_f64());
        stamps.extend(ping.payload().parse::<f64>().ok());
    }
    // This process may be late, and stamps may be rounded to seconds; a ping that is missing shows in both.
    if has_gap(&arrivals) && (stamps.len() < PINGS || has_gap(&stamps)) {
        return Err(Stop::fail(format!(
            "expected pings at one interval; they came {arrivals:.1?} s after the welcome"
        )));
    }
    Ok(())
}

/// Whether one interval is nearly twice as long as they usually are, as when a ping is missing.
fn has_gap(times: &[f64]) -> bool {
    let mut intervals: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    intervals.sort_by(f64::total_cmp);
    match (intervals.get(intervals.len() / 2), intervals.last()) {
        (Some(median), Some(longest)) => *longest >= 1.8 * median,
        _ => false,
    }
}

pub(super) async fn protocol(stage: &Stage<'_>) -> Checked {
    let name = stage.dialect().name();
    agrees(stage, &[name], Some(name)).await
}

pub(super) async fn protocol_among_others(stage: &Stage<'_>) -> Checked {
    let name = stage.dialect().name();
    // In JSON, the first offer is that of @rails/actioncable.
    for offered in [[name, "actioncable-unsupported"], ["graphql-ws", name]] {
        agrees(stage, &offered, Some(name)).await?;
    }
    Ok(())
}

pub(super) async fn protocol_unknown(stage: &Stage<'_>) -> Checked {
    let offered = ["actioncable-v9-json"];
    let handshake = Handshake {
        protocols: Some(&offered),
        ..Handshake::default()
    };
    match stage.open(&handshake).await? {
        Err(Refused(status)) if (400..500).contains(&status) => Ok(()),
        Err(Refused(status)) => Err(Stop::fail(format!(
            "expected an upgrade or a status 4xx; got {status}"
        ))),
        Ok(client) if client.sub_protocol().is_none() => Ok(()),
        Ok(client) => Err(Stop::fail(format!(
            "expected no sub-protocol, because only {offered:?} was offered; got {:?}",
            client.sub_protocol()
        ))),
    }
}

pub(super) async fn no_protocol(stage: &Stage<'_>) -> Checked {
    agrees(stage, &[], None).await
}

async fn agrees(stage: &Stage<'_>, offered: &[&str], expected: Option<&str>) -> Checked {
    let handshake = Handshake {
        protocols: Some(offered),
        ..Handshake::default()
    };
    let client = stage.client_with(&handshake).await?;
    if client.sub_protocol() == expected {
        Ok(())
    } else {
        Err(Stop::fail(format!(
            "expected the sub-protocol {expected:?} for an offer of {offered:?}; got {:?}",
            client.sub_protocol()
        )))
    }
}

pub(super) async fn own_origin(stage: &Stage<'_>) -> Checked {
    let origin = stage.target().origin();
    let handshake = Handshake {
        headers: &[("Origin", &origin)],
        ..Handshake::default()
    };
    stage.client_with(&handshake).await.map(|_client| ())
}

pub(super) async fn foreign_origin(stage: &Stage<'_>) -> Checked {
    let handshake = Handshake {
        headers: &[("Origin", "http://elsewhere.example")],
        ..Handshake::default()
    };
    Err(match stage.open(&handshake).await? {
        Err(Refused(status)) => Stop::inform(format!(
            "a page of another origin is refused with status {status}"
        )),
        Ok(mut client) => match client.message("a welcome or a refusal").await? {
            message if message.is("welcome") => Stop::inform("a page of another origin is welcome"),
            message if message.is("disconnect") => {
                Stop::inform("a page of another origin is told to disconnect")
            }
            message => client.unexpected("a welcome or a refusal", &message),
        },
    })
}

pub(super) async fn url(stage: &Stage<'_>) -> Checked {
    #[derive(Deserialize)]
    struct Report {
        url: String,
    }
    let query = "test=url&q=%20a%26";
    let handshake = Handshake {
        query,
        ..Handshake::default()
    };
    let mut client = stage.client_with(&handshake).await?;
    let identifier = r#"{"channel":"RequestChannel"}"#;
    client.send(&client::subscribe(identifier)).await?;
    let message = client.message("the URL that the application knows").await?;
    let target = stage.target().clone().with_query(query);
    let expected = format!("//{}{}", target.authority(), target.path());
    match serde_json::from_str::<Report>(message.payload()) {
        Ok(Report { url }) if url.ends_with(&expected) => client.is_confirmed(identifier).await,
        _ => Err(client.unexpected(&format!("a URL that ends with {expected}"), &message)),
    }
}

pub(super) async fn cookies_missing(stage: &Stage<'_>) -> Checked {
    is_refused(stage, "test=cookies", &[]).await
}

pub(super) async fn cookies(stage: &Stage<'_>) -> Checked {
    is_welcome(stage, "test=cookies", &[("Cookie", "username=john green")]).await
}

pub(super) async fn headers_missing(stage: &Stage<'_>) -> Checked {
    is_refused(stage, "test=headers", &[]).await
}

pub(super) async fn headers(stage: &Stage<'_>) -> Checked {
    is_welcome(stage, "test=headers", &[("X-Api-Token", "abc")]).await
}

async fn is_welcome(stage: &Stage<'_>, query: &str, headers: &[(&str, &str)]) -> Checked {
    let handshake = Handshake {
        query,
        headers,
        ..Handshake::default()
    };
    stage.client_with(&handshake).await.map(|_client| ())
}

async fn is_refused(stage: &Stage<'_>, query: &str, headers: &[(&str, &str)]) -> Checked {
    let handshake = Handshake {
        query,
        headers,
        ..Handshake::default()
    };
    match stage.open(&handshake).await? {
        Err(_refused) => Ok(()),
        Ok(mut client) => {
            let message = client.message("a refusal").await?;
            if message.is("welcome") {
                return Err(client.unexpected("a refusal", &message));
            }
            client.is_closed_properly().await
        }
    }
}

pub(super) async fn unauthorized(stage: &Stage<'_>) -> Checked {
    let handshake = Handshake {
        query: "test=refused",
        ..Handshake::default()
    };
    let mut client = stage.connected(&handshake).await?;
    client.is_told_to_leave("unauthorized", false).await?;
    client.is_closed_properly().await
}

pub(super) async fn channel_request(stage: &Stage<'_>) -> Checked {
    let identifier = r#"{"channel":"TokenChannel"}"#;
    let handshake = Handshake {
        query: "token=secret",
        ..Handshake::default()
    };
    stage.client_with(&handshake).await?.subscribe(identifier).await?;
    let mut stranger = stage.client().await?;
    stranger.send(&client::subscribe(identifier)).await?;
    stranger.is_rejected(identifier).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_ping_is_a_gap_and_a_late_one_is_not() {
        for (times, expected) in [
            (&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..], false),
            (&[0.0, 1.5, 2.0, 3.0, 4.0, 5.0], false),
            (&[0.0, 1.0, 3.0, 4.0, 5.0, 6.0], true),
            (&[], false),
        ] {
            assert_eq!(has_gap(times), expected, "{times:?}");
        }
    }
}
