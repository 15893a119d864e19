//! What is answered to which request.

use bytes::Bytes;
use hyper::{Method, StatusCode};
use plimsoll_report::html::{ICON, SCRIPT, STYLE};

use super::{Shared, guard::Origin, lock};

/// A whole answer, or the begin of the stream of states.
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
        return Answer::refusal(StatusCode::FORBIDDEN, "only this machine may ask\n");
    }
    let own = path
        .strip_prefix('/')
        .and_then(|path| path.strip_prefix(&*shared.secret));
    let Some(page) = own.and_then(|path| path.strip_prefix('/')) else {
        return Answer::refusal(
            StatusCode::NOT_FOUND,
            "the page has a longer address, which the run printed\n",
        );
    };
    match (method, page) {
        (&Method::GET, "") => Answer::found(HTML_TYPE, page_of(shared)),
        (&Method::GET, "page.js") => Answer::found("text/javascript; charset=utf-8", SCRIPT),
        (&Method::GET, "page.css") => Answer::found("text/css; charset=utf-8", STYLE),
        (&Method::GET, "states") => Answer::Stream,
        (&Method::GET, "report") => report(shared),
        (&Method::POST, "pause" | "stop") if !origin.is_own() => {
            Answer::refusal(StatusCode::FORBIDDEN, "only the page itself may order that\n")
        }
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
        None => Answer::refusal(StatusCode::NOT_FOUND, "the run is not over\n"),
    }
}

/// The page with what it is about, as attributes. Its charts are those of reports, and so is its script.
fn page_of(shared: &Shared) -> String {
    let subject = &shared.subject;
    let (link, link_name) = subject
        .link
        .as_ref()
        .map_or(("", ""), |(url, name)| (url.as_str(), name.as_str()));
    let [name, link, link_name] = [subject.name.as_str(), link, link_name].map(in_attribute);
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name} · Plimsoll</title>\n\
         <link rel=\"icon\" href=\"{ICON}\">\n\
         <link rel=\"stylesheet\" href=\"page.css\">\n\
         </head>\n\
         <body>\n\
         <div id=\"live\" data-name=\"{name}\" data-can-pause=\"{}\" data-link=\"{link}\" \
         data-link-name=\"{link_name}\"></div>\n\
         <noscript><p>This page needs JavaScript.</p></noscript>\n\
         <script src=\"page.js\"></script>\n\
         </body>\n\
         </html>\n",
        subject.can_pause
    )
}

fn in_attribute(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('"', "&quot;"), ('<', "&lt;"), ('>', "&gt;")];
    text.chars().fold(String::new(), |mut escaped, character| {
        match escapes.iter().find(|(special, _)| *special == character) {
            Some((_, escape)) => escaped.push_str(escape),
            None => escaped.push(character),
        }
        escaped
    })
}

#[cfg(test)]
mod tests;
