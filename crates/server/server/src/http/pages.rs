//! Common parts of the server's own pages: security headers, and files that are part of the program.

use hyper::{
    StatusCode,
    header::{self, HeaderName},
};

use super::answers::{Answer, answer_of, with_header};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The content security policy of a page. It allows only this server's own files, so that a name chosen by a client or
/// an application cannot run anything. WebSockets are listed because not every browser counts them as the page's own
/// origin.
macro_rules! policy {
    ($frame_ancestors:literal) => {
        concat!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws: wss:; img-src data:; \
             form-action 'self'; base-uri 'none'; frame-ancestors ",
            $frame_ancestors
        )
    };
}

/// The pages that may show a page in a frame (`frame-ancestors`, CSP Level 3 §6.4.2).
#[derive(Clone, Copy)]
pub(super) enum Frames {
    Nobody,
    /// Pages of this machine, such as the page of a load run.
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

/// A file that all pages share. Each folder of pages serves it under its own path.
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

/// Adds the security headers: no caching, no foreign content, and who may show the page in a frame.
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
        // The older header cannot list origins.
        Frames::ThisMachine => answer,
    }
}
