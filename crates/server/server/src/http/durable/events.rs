//! The events of a live read: each part as a `data` event with a `control` event behind it
//! (docs/protocols/durable-streams.md, Events).

use std::{fmt::Write, sync::Arc, time::Duration};

use bytes::Bytes;
use plimsoll_telemetry::Gauge;
use serde::Serialize;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout_at},
};

use super::{
    access::Visit,
    cursor,
    offset::Offset,
    reading::{Reading, read},
};
use crate::{Publisher, archive::Archive, http::flow::Flow, tails::Tail, unix_time::now_ms};

/// The bytes of messages in one event; the last message may be more.
const PART_BYTES: usize = 64 << 10;

/// A reader that listens.
pub(super) struct Listener {
    pub(super) archive: Arc<Archive>,
    pub(super) publisher: Publisher,
    pub(super) tail: Tail,
    pub(super) stream: String,
    /// The cursor of the first part.
    pub(super) cursor: u64,
    /// How long the answer goes on.
    pub(super) ttl: Duration,
    /// The number of listeners.
    pub(super) counted: Gauge,
    pub(super) visit: Visit,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Control {
    stream_next_offset: String,
    stream_cursor: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    up_to_date: bool,
}

impl Listener {
    /// Starts to read behind `first`, which was read already.
    pub(super) fn start(self, offset: &Offset) -> Flow {
        // One part waits while another one is written.
        let (parts, flow) = mpsc::channel(1);
        tokio::task::spawn_local(self.run(offset.clone(), parts));
        Flow::new(flow)
    }

    /// Ends after its time, when the client hangs up, when the server stops, and when the reader is so slow that messages
    /// are gone. A client that comes back then is told.
    async fn run(mut self, mut offset: Offset, parts: mpsc::Sender<Bytes>) {
        self.counted.add(1);
        let end = Instant::now() + self.ttl;
        let mut is_first = true;
        while let Ok(reading) = read(&self.archive, &self.stream, &offset, PART_BYTES, now_ms() / 1000) {
            if is_first || !reading.is_empty() {
                let part = self.events(&reading);
                if !matches!(timeout_at(end, parts.send(part)).await, Ok(Ok(()))) {
                    break;
                }
            }
            is_first = false;
            offset = reading.next;
            if !reading.is_up_to_date {
                continue;
            }
            tokio::select! {
                biased;
                () = self.publisher.closed() => break,
                () = parts.closed() => break,
                () = sleep_until(end) => break,
                () = self.tail.changed() => {}
            }
        }
        self.counted.sub(1);
        drop(self.visit);
    }

    fn events(&self, reading: &Reading) -> Bytes {
        let mut text = String::new();
        if !reading.is_empty() {
            let json = reading.json();
            push_event(&mut text, "data", &String::from_utf8_lossy(&json));
        }
        let control = Control {
            stream_next_offset: reading.next.to_string(),
            stream_cursor: cursor::later(self.cursor, now_ms() / 1000).to_string(),
            up_to_date: reading.is_up_to_date,
        };
        let control = serde_json::to_string(&control).expect("texts always serialise");
        push_event(&mut text, "control", &control);
        text.into()
    }
}

/// A line break in JSON is white space between its parts, so it may become the end of a line of the event.
fn push_event(text: &mut String, kind: &str, data: &str) {
    let _a_string_takes_all = writeln!(text, "event: {kind}");
    for line in data.split(['\n', '\r']) {
        let _a_string_takes_all = writeln!(text, "data: {line}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_data_in_lines() {
        let mut text = String::new();
        push_event(&mut text, "data", "[{\"a\":\r\n1}]");
        push_event(&mut text, "control", "{}");
        assert_eq!(
            text,
            "event: data\ndata: [{\"a\":\ndata: \ndata: 1}]\n\nevent: control\ndata: {}\n\n"
        );
    }
}
