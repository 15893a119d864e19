//! Frames in the log, for people who look for the reason of something: `--websocket-debug`.
//!
//! One line for each frame, under the target [`TARGET`] at the level trace; while nobody listens there, a frame costs
//! one look at a static.

use plimsoll_websocket::{CloseCode, CloseFrame, Event, Opcode};

/// The target of the lines.
pub(crate) const TARGET: &str = "websocket";

/// How much of a text is shown.
const MAX_CHARS: usize = 100;

/// A frame came in.
pub(super) fn received(url: &str, event: Event<'_>) {
    if !is_shown() {
        return;
    }
    match event {
        Event::Text(text) => show(url, "received", "text", text.as_bytes()),
        Event::Binary(bytes) => show(url, "received", "binary", bytes),
        Event::Ping(bytes) => show(url, "received", "ping", bytes),
        Event::Pong(bytes) => show(url, "received", "pong", bytes),
        Event::Close(None) => show(url, "received", "close", &[]),
        Event::Close(Some(CloseFrame { code, reason })) => show_close(url, "received", code, reason),
    }
}

/// A frame goes out.
pub(super) fn sent(url: &str, opcode: Opcode, payload: &[u8]) {
    if is_shown() {
        let kind = match opcode {
            Opcode::Binary => "binary",
            Opcode::Ping => "ping",
            _ => "text",
        };
        show(url, "sent", kind, payload);
    }
}

/// A Close goes out.
pub(super) fn closing(url: &str, code: CloseCode, reason: &str) {
    if is_shown() {
        show_close(url, "sent", code, reason);
    }
}

fn is_shown() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::TRACE)
}

fn show_close(url: &str, direction: &str, code: CloseCode, reason: &str) {
    tracing::trace!(target: TARGET, "{direction} close {code} {reason:?} ({url})");
}

fn show(url: &str, direction: &str, kind: &str, payload: &[u8]) {
    let n_bytes = payload.len();
    if kind == "binary" {
        tracing::trace!(target: TARGET, "{direction} {kind}, {n_bytes} bytes ({url})");
        return;
    }
    let text = String::from_utf8_lossy(payload);
    let shown: String = text.chars().take(MAX_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    tracing::trace!(target: TARGET, "{direction} {kind}, {n_bytes} bytes: {shown:?}{more} ({url})");
}
