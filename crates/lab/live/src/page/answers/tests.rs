//! Answers to allowed and forbidden requests.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use tokio::sync::watch;

use super::*;
use crate::{draw::Mood, page::Subject, view::Orders};

/// A run that can be paused, and records its orders.
#[derive(Clone, Default)]
struct Run {
    is_paused: Arc<AtomicBool>,
    is_ending: Arc<AtomicBool>,
}

impl Orders for Run {
    fn end(&self) {
        self.is_ending.store(true, Relaxed);
    }

    fn pause_or_resume(&self) -> Result<(), String> {
        if self.is_ending.load(Relaxed) {
            return Err("it ends".to_owned());
        }
        self.is_paused.fetch_not(Relaxed);
        Ok(())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: self.is_paused.load(Relaxed),
            is_ending: self.is_ending.load(Relaxed),
        }
    }
}

fn shared() -> Shared {
    Shared {
        address: "127.0.0.1:5665".parse().unwrap(),
        secret: "5ec4e7".to_owned(),
        subject: Subject {
            name: "<chat>.js".to_owned(),
            can_pause: true,
            link: Some(("http://127.0.0.1:1/?a&b".to_owned(), "the chat".to_owned())),
        },
        orders: Box::new(Run::default()),
        state: watch::Sender::new(Bytes::new()),
        report: Mutex::default(),
        n_tabs: AtomicUsize::new(0),
        n_reports: watch::Sender::new(0),
    }
}

const OWN: Origin<'_> = Origin {
    host: Some("127.0.0.1:5665"),
    origin: Some("http://127.0.0.1:5665"),
    site: Some("same-origin"),
};

/// Status and body.
fn ask(shared: &Shared, method: &Method, path: &str, origin: &Origin<'_>) -> (u16, String) {
    match answer(method, path, origin, shared) {
        Answer::Whole { status, body, .. } => (status.as_u16(), String::from_utf8(body.to_vec()).unwrap()),
        Answer::Stream => (200, "stream".to_owned()),
    }
}

#[test]
fn without_the_secret_there_is_nothing() {
    let shared = shared();
    for path in [
        "/",
        "/states",
        "/5ec4e",
        "/5ec4e7",
        "/5ec4e8/",
        "/x5ec4e7/",
        "5ec4e7/",
    ] {
        assert_eq!(ask(&shared, &Method::GET, path, &OWN).0, 404, "{path}");
    }
    let (status, page) = ask(&shared, &Method::GET, "/5ec4e7/", &OWN);
    assert_eq!(status, 200);
    assert!(page.contains("data-name=\"&lt;chat&gt;.js\""), "{page}");
    assert!(
        page.contains("data-link=\"http://127.0.0.1:1/?a&amp;b\""),
        "{page}"
    );
    assert_eq!(ask(&shared, &Method::GET, "/5ec4e7/states", &OWN).1, "stream");
    assert_eq!(ask(&shared, &Method::GET, "/5ec4e7/page.js", &OWN).0, 200);
}

#[test]
fn under_another_name_nothing_is_told() {
    let shared = shared();
    let rebound = Origin {
        host: Some("evil.example:5665"),
        ..OWN
    };
    for path in ["/5ec4e7/", "/5ec4e7/states", "/5ec4e7/report"] {
        assert_eq!(ask(&shared, &Method::GET, path, &rebound).0, 403, "{path}");
    }
}

#[test]
fn only_the_page_gives_orders() {
    let shared = shared();
    let foreign = Origin {
        origin: Some("http://evil.example"),
        site: Some("cross-site"),
        ..OWN
    };
    for order in ["/5ec4e7/pause", "/5ec4e7/stop"] {
        assert_eq!(ask(&shared, &Method::POST, order, &foreign).0, 403, "{order}");
        assert_eq!(ask(&shared, &Method::GET, order, &OWN).0, 404, "{order}");
    }
    let mood = |is_paused, is_ending| format!("{{\"isPaused\":{is_paused},\"isEnding\":{is_ending}}}");
    let order = |path| ask(&shared, &Method::POST, path, &OWN);
    assert_eq!(order("/5ec4e7/pause"), (200, mood(true, false)));
    assert_eq!(order("/5ec4e7/pause"), (200, mood(false, false)));
    assert_eq!(order("/5ec4e7/stop"), (200, mood(false, true)));
    assert_eq!(order("/5ec4e7/pause"), (409, "it ends".to_owned()));
}

#[test]
fn the_report_is_there_when_the_run_is_over() {
    let shared = shared();
    assert_eq!(ask(&shared, &Method::GET, "/5ec4e7/report", &OWN).0, 404);
    *lock(&shared.report) = Some("<!doctype html>".into());
    assert_eq!(
        ask(&shared, &Method::GET, "/5ec4e7/report", &OWN),
        (200, "<!doctype html>".to_owned())
    );
}
