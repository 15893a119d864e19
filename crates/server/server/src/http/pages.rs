//! What pages that the server itself brings have in common: what browsers are told about them, and files that are part of
//! the program.

use hyper::{
    StatusCode,
    header::{self, HeaderName},
};

use super::answers::{Answer, answer_of, with_header};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Only this server's own files, so that nothing that a client or an application called itself can do anything.
/// WebSockets are named because not every browser counts them among what is the page's own.
macro_rules! policy {
    ($frame_ancestors:literal) => {
        concat!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws: wss:; img-src data:; \
             form-action 'self'; base-uri 'none'; frame-ancestors ",
            $frame_ancestors
        )
    };
}

/// Who may show a page as a part of theirs (`frame-ancestors`, CSP Level 3 §6.4.2).
#[derive(Clone, Copy)]
pub(super) enum Frames {
    Nobody,
    /// Pages of this machine, such as that of a load run.
    ThisMachine,
}

impl Frames {
    const fn policy(self) -> &'static str {
        match self {
            Self::Nobody => policy!("'none'"),
            Self::ThisMachine => policy!("http://127.0.0.1:* http://localhost:*"),
        }
    }
}

/// A file that all pages share; each folder of pages has it under its own path.
pub(super) fn shared_part(name: &str) -> Option<Answer> {
    match name {
        "base.css" => Some(style(include_str!("../../assets/shared/base.css"))),
        "figures.js" => Some(script(include_str!("../../assets/shared/figures.js"))),
        _ => None,
    }
}

pub(super) fn html(status: StatusCode, text: impl Into<String>) -> Answer {
    answer_of(status, HTML, text.into())
}

pub(super) fn style(text: &'static str) -> Answer {
    answer_of(StatusCode::OK, CSS, text)
}

pub(super) fn script(text: &'static str) -> Answer {
    answer_of(StatusCode::OK, JAVASCRIPT, text)
}

/// What browsers are told about all of it: keep nothing, load nothing else, and who may show it in a frame.
pub(super) fn guarded(answer: Answer, frames: Frames) -> Answer {
    let guards: [(HeaderName, &str); 4] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, frames.policy()),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let answer = guards
        .into_iter()
        .fold(answer, |answer, (name, value)| with_header(answer, name, value));
    match frames {
        Frames::Nobody => with_header(answer, header::X_FRAME_OPTIONS, "DENY"),
        // The older header knows no list of names.
        Frames::ThisMachine => answer,
    }
}
