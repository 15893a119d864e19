//! Server memory of reliable streams: idle sessions that can be resumed, kept messages, and streams that no client uses any
//! more.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{page, start};
use crate::bench::{
    Error, Outcome, Plan, budget,
    idle::Readings,
    server::Server,
    sheet::Sheet,
    swarm::{self, Wish},
};

/// Idle sessions.
const N_IDLE: usize = 10_000;

/// A channel of the benchmark application.
const CHANNEL: Wish = Wish {
    protocol: "actioncable-v1-ext-json",
    ..swarm::BASE
};

/// A public stream, whose state gives the right to whisper and to be present.
const PUBLIC: Wish = Wish {
    protocol: CHANNEL.protocol,
    identifier: r#"{"channel":"$pubsub","stream_name":"benchmark"}"#,
};

/// The history: as many streams, messages of each, and bytes of each.
const N_STREAMS: usize = 1000;
const N_MESSAGES: usize = 100;
const N_BYTES: usize = 350;

/// Messages of one request.
const BATCH: usize = 100;

/// Streams that get one message each and are then forgotten, in waves. The first wave shows how much memory the server
/// keeps of any busy time.
const N_WAVES: usize = 4;
const N_IN_WAVE: usize = 20_000;

/// Flags with which a stream is forgotten ten seconds after its message.
const FORGETFUL: [&str; 2] = ["--history_ttl", "1"];

/// How long that may take, with the sweep over all streams.
const PATIENCE: Duration = Duration::from_secs(60);

const CHANNEL_EACH: &str = "session, bytes";
const PUBLIC_EACH: &str = "public, bytes";
const KEPT: &str = "history, MB";
const FORGOTTEN: &str = "forgotten, bytes";

/// Measures all of them.
pub(super) fn measure(plan: &Plan, outcome: &mut Outcome) -> Result<(), Error> {
    let title = format!(
        "recover: server RSS per idle extended session ({N_IDLE}), of {N_STREAMS} × {N_MESSAGES} messages of {N_BYTES} \
         bytes, and per forgotten name of {}",
        N_WAVES * N_IN_WAVE
    );
    let mut sheet = Sheet::new(title, &[CHANNEL_EACH, PUBLIC_EACH, KEPT, FORGOTTEN]);
    for _ in 0..plan.rounds {
        let benchmark = ["--app", "benchmark", "--broker", "memory"];
        let benchmark = Server::start_with(&plan.server, &benchmark)?;
        let channel = Readings::of(&benchmark, N_IDLE, CHANNEL)?.each();
        drop(benchmark);
        let public = Readings::of(&start(plan, &[])?, N_IDLE, PUBLIC)?.each();
        sheet.push(vec![channel, public, kept(plan)?, forgotten(plan)?]);
    }
    let verdicts = [
        budget::EXTENDED_IDLE.judge("a channel".into(), sheet.median(CHANNEL_EACH)),
        budget::EXTENDED_IDLE.judge("a public stream".into(), sheet.median(PUBLIC_EACH)),
        budget::HISTORY.judge(
            format!("{N_STREAMS} × {N_MESSAGES} messages of {N_BYTES} bytes"),
            sheet.median(KEPT),
        ),
        budget::FORGOTTEN.judge(
            format!("{} names after the first {N_IN_WAVE}", (N_WAVES - 1) * N_IN_WAVE),
            sheet.median(FORGOTTEN),
        ),
    ];
    outcome.add(&sheet, &verdicts, &[]);
    Ok(())
}

/// Megabytes of the history. A message before it brings in the code that keeps messages.
fn kept(plan: &Plan) -> Result<f64, Error> {
    let server = start(plan, &[])?;
    let message = message();
    page::publish(server.address(), [("first".to_owned(), &*message)])?;
    let before = server.rss_bytes()?;
    for _ in 0..N_MESSAGES {
        publish_all(&server, "history", N_STREAMS, &message)?;
    }
    Ok((server.rss_bytes()? as f64 - before as f64) / 1e6)
}

/// Bytes that the server has kept of each forgotten name after the first wave; 0 if it has less memory than then.
fn forgotten(plan: &Plan) -> Result<f64, Error> {
    let server = start(plan, &FORGETFUL)?;
    let message = message();
    let mut first = 0;
    for wave in 0..N_WAVES {
        publish_all(&server, &format!("wave-{wave}"), N_IN_WAVE, &message)?;
        wait_until_forgotten(&server)?;
        if wave == 0 {
            first = server.rss_bytes()?;
        }
    }
    let grown = server.rss_bytes()?.saturating_sub(first);
    Ok(grown as f64 / ((N_WAVES - 1) * N_IN_WAVE) as f64)
}

fn publish_all(server: &Server, prefix: &str, n_streams: usize, message: &str) -> Result<(), Error> {
    for batch in (0..n_streams).step_by(BATCH) {
        let streams = (batch..n_streams.min(batch + BATCH)).map(|n| (format!("{prefix}-{n}"), message));
        page::publish(server.address(), streams)?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no runtime, and the server does not tell when it forgets a stream"
)]
fn wait_until_forgotten(server: &Server) -> Result<(), Error> {
    const STREAMS: &str = "history_streams_num";
    let started = Instant::now();
    while page::metric(server.address(), STREAMS, "")? > 0.0 {
        if started.elapsed() > PATIENCE {
            return Err(Error::Forgotten);
        }
        thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// A JSON text of the size of all messages.
fn message() -> String {
    const AROUND: &str = r#"{"text":""}"#;
    format!(r#"{{"text":"{}"}}"#, "x".repeat(N_BYTES - AROUND.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_size() {
        let message = message();
        assert_eq!(message.len(), N_BYTES);
        assert!(serde_json::from_str::<serde_json::Value>(&message).is_ok());
    }
}
