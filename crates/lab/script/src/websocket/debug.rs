//! `--websocket-debug`: handshakes in the log, and with `=full` all frames, one line each.

use plimsoll_clients::websocket::Response;
use plimsoll_websocket::{CloseCode, CloseFrame, Event, Opcode};

use crate::program::Program;

/// How much of a text is shown.
const MAX_CHARS: usize = 100;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Debug {
    /// Handshakes and endings.
    Handshakes,
    /// All frames, too.
    Full,
}

impl Debug {
    /// What the option `websocketDebug` says.
    pub(super) fn of(program: &Program) -> Option<Self> {
        match program.option("websocketDebug")?.as_str()? {
            "" | "false" => None,
            "full" => Some(Self::Full),
            _ => Some(Self::Handshakes),
        }
    }

    /// An attempt to connect is over.
    pub(super) fn attempted(url: &str, response: Option<&Response>, error: Option<&str>) {
        let mut text = match error {
            None => format!("connected to {url}"),
            Some(error) => format!("no connection to {url}: {error}"),
        };
        if let Some(response) = response {
            text.push_str(&format!("; the server answered {}", response.head.status));
            for (name, value) in &response.head.headers {
                text.extend(["; ", name, ": ", value]);
            }
            if !response.body.is_empty() {
                text.extend(["; body ", &excerpt(&response.body)]);
            }
        }
        show(&text);
    }

    /// The connection is over without a Close frame.
    pub(super) fn lost(url: &str, error: &str) {
        show(&format!("{error} ({url})"));
    }

    /// A frame came in.
    pub(super) fn received(self, url: &str, event: Event<'_>) {
        let line = match event {
            Event::Close(frame) => close(
                "received",
                frame.map(|CloseFrame { code, reason }| (code, reason)),
            ),
            _ if self != Self::Full => return,
            Event::Text(text) => message("received", "text", text.as_bytes()),
            Event::Binary(bytes) => message("received", "binary", bytes),
            Event::Ping(bytes) => message("received", "ping", bytes),
            Event::Pong(bytes) => message("received", "pong", bytes),
        };
        show(&format!("{line} ({url})"));
    }

    /// A frame goes out.
    pub(super) fn sent(self, url: &str, opcode: Opcode, payload: &[u8]) {
        if self != Self::Full {
            return;
        }
        let kind = match opcode {
            Opcode::Binary => "binary",
            Opcode::Ping => "ping",
            _ => "text",
        };
        show(&format!("{} ({url})", message("sent", kind, payload)));
    }

    /// A Close goes out.
    pub(super) fn closing(url: &str, code: CloseCode, reason: &str) {
        show(&format!("{} ({url})", close("sent", Some((code, reason)))));
    }
}

fn show(line: &str) {
    tracing::info!(target: "websocket", "{line}");
}

fn close(direction: &str, frame: Option<(CloseCode, &str)>) -> String {
    match frame {
        None => format!("{direction} close without a code"),
        Some((code, "")) => format!("{direction} close {code}"),
        Some((code, reason)) => format!("{direction} close {code} {reason:?}"),
    }
}

fn message(direction: &str, kind: &str, payload: &[u8]) -> String {
    let n_bytes = payload.len();
    match kind {
        "binary" => format!("{direction} {kind}, {n_bytes} bytes"),
        _ => format!("{direction} {kind}, {n_bytes} bytes: {}", excerpt(payload)),
    }
}

/// The beginning of a text, on one line.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown: String = text.chars().take(MAX_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_one_line_each() {
        assert_eq!(
            message("sent", "text", "a\n\"b\"".as_bytes()),
            r#"sent text, 5 bytes: "a\n\"b\"""#
        );
        assert_eq!(message("received", "binary", &[0; 7]), "received binary, 7 bytes");
        let long = message("sent", "text", "ä".repeat(150).as_bytes());
        assert!(
            long.starts_with("sent text, 300 bytes: \"ää") && long.ends_with("ä\"…"),
            "{long}"
        );
        assert_eq!(close("sent", Some((CloseCode::NORMAL, ""))), "sent close 1000");
        assert_eq!(
            close("received", Some((CloseCode::NORMAL, "bye"))),
            "received close 1000 \"bye\""
        );
        assert_eq!(close("received", None), "received close without a code");
    }
}
