//! What pages that the server itself brings have in common: what browsers are told about them, and files that are part of
//! the program.

use hyper::{
    StatusCode,
    header::{self, HeaderName},
};

use super::{Answer, answer_of, with_header};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Only this server's own files, so that nothing that a client or an application called itself can do anything.
/// WebSockets are named because not every browser counts them among what is the page's own.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' \
     ws: wss:; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

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

/// What browsers are told about all of it: keep nothing, load nothing else, show it in no frame.
pub(super) fn guarded(answer: Answer) -> Answer {
    const GUARDS: [(HeaderName, &str); 5] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    GUARDS
        .into_iter()
        .fold(answer, |answer, (name, value)| with_header(answer, name, value))
}
