//! What is answered to which request.

use bytes::Bytes;
use hyper::{Method, StatusCode};
use plimsoll_loopback::{Origin, within};
use plimsoll_report::html::{self, SCRIPT, STYLE};

use super::{Shared, lock};

/// A complete answer, or the beginning of the stream of states.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Whole {
        status: StatusCode,
        content_type: &'static str,
        body: Bytes,
    },
    Stream,
}

const HTML_TYPE: &str = "text/html; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

impl Answer {
    fn found(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::Whole {
            status: StatusCode::OK,
            content_type,
            body: body.into(),
        }
    }

    fn refusal(status: StatusCode, reason: impl Into<Bytes>) -> Self {
        Self::Whole {
            status,
            content_type: TEXT_TYPE,
            body: reason.into(),
        }
    }
}

pub(super) fn answer(method: &Method, path: &str, origin: &Origin<'_>, shared: &Shared) -> Answer {
    if !origin.is_local(shared.address) {
        return Answer::refusal(StatusCode::FORBIDDEN, "only this machine may open this page\n");
    }
    let Some(page) = within(path, &shared.secret) else {
        return Answer::refusal(
            StatusCode::NOT_FOUND,
            "this is not the whole address of the page; use the one that the run printed\n",
        );
    };
    match (method, page) {
        (&Method::GET, "") => Answer::found(HTML_TYPE, page_of(shared)),
        (&Method::GET, "page.js") => Answer::found("text/javascript; charset=utf-8", SCRIPT),
        (&Method::GET, "page.css") => Answer::found("text/css; charset=utf-8", STYLE),
        (&Method::GET, "states") => Answer::Stream,
        (&Method::GET, "report") => report(shared),
        (&Method::POST, "pause" | "stop") if !origin.is_own() => Answer::refusal(
            StatusCode::FORBIDDEN,
            "only the page itself may control the run\n",
        ),
        (&Method::POST, "pause") => match shared.orders.pause_or_resume() {
            Ok(()) => mood(shared),
            Err(reason) => Answer::refusal(StatusCode::CONFLICT, reason),
        },
        (&Method::POST, "stop") => {
            shared.orders.end();
            mood(shared)
        }
        _ => Answer::refusal(StatusCode::NOT_FOUND, "there is no such page\n"),
    }
}

fn mood(shared: &Shared) -> Answer {
    Answer::found("application/json", shared.mood())
}

fn report(shared: &Shared) -> Answer {
    match lock(&shared.report).clone() {
        Some(report) => Answer::found(HTML_TYPE, report),
        None => Answer::refusal(StatusCode::NOT_FOUND, "the run has not ended\n"),
    }
}

/// The page with the run's data as attributes. It uses the charts and the script of reports.
fn page_of(shared: &Shared) -> String {
    let subject = &shared.subject;
    let (link, link_name) = subject
        .link
        .as_ref()
        .map_or(("", ""), |(url, name)| (url.as_str(), name.as_str()));
    let [name, link, link_name] = [subject.name.as_str(), link, link_name].map(html::in_text);
    let about = format!(
        "<div id=\"live\" data-name=\"{name}\" data-can-pause=\"{}\" data-link=\"{link}\" \
         data-link-name=\"{link_name}\"></div>",
        subject.can_pause
    );
    html::served(&subject.name, &about)
}

#[cfg(test)]
mod tests;
