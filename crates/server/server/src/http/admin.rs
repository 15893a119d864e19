//! The admin page at `/admin`, with its parts and its data. [`crate::admin`] decides what the page shows, and which
//! requests may see it.
//!
//! | path | answers |
//! |---|---|
//! | `GET /admin` | the page, or with 401 a form that asks for the secret |
//! | `POST /admin/sign-in` | to the form: a cookie, and back to the page |
//! | `POST /admin/sign-out` | the cookie is removed |
//! | `GET /admin/state.json` | the page's figures |
//! | those of [`inquiries`] | what an operator looks for and does |
//! | `GET /admin/admin.css`, `admin.js`, `base.css`, … | the page's parts, for everyone: they hold no data |
//!
//! All data and orders need the cookie, or, for programs, `Authorization: Bearer SECRET`.

mod inquiries;

use std::{net::IpAddr, time::SystemTime};

use bytes::Bytes;
use hyper::{
    Method, Request, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
};

use super::{
    answers::{Answer, answer_of, text, with_header},
    body,
    pages::{self, Frames},
};
use crate::{
    admin::{Admin, Facts, SESSION_LIFETIME, State, Verdict},
    purpose::Purpose,
    shard::Shard,
};

const PATH: &str = "/admin";

const PAGE: &str = include_str!("../../assets/admin/page.html");
const SIGN_IN: &str = include_str!("../../assets/admin/sign-in.html");
const STYLE: &str = include_str!("../../assets/admin/admin.css");
const SCRIPT: &str = include_str!("../../assets/admin/admin.js");
const OPERATING: &str = include_str!("../../assets/admin/operating.js");
const PAST: &str = include_str!("../../assets/admin/past.js");

/// The place in the form for an error message.
const COMPLAINT: &str = "<!-- complaint -->";

const COOKIE: &str = "plimsoll_admin";

/// The streams that the page lists.
const MAX_STREAMS: usize = 10;

/// The largest form: a secret, percent-encoded.
const MAX_FORM_BYTES: usize = 4 * 1024;

/// The admin page's state, if this listener serves the page and the request is for it.
pub(super) fn of_request<'a, B>(
    shard: &'a Shard,
    request: &Request<B>,
    purpose: Purpose,
) -> Option<&'a Admin> {
    let admin = shard.shared.admin.as_deref()?;
    let is_here = match purpose {
        Purpose::Clients => admin.on_main_port,
        Purpose::Metrics => true,
        Purpose::Broadcasts | Purpose::Api => false,
    };
    let rest = request.uri().path().strip_prefix(PATH)?;
    (is_here && (rest.is_empty() || rest.starts_with('/'))).then_some(admin)
}

pub(super) async fn answer(shard: &Shard, admin: &Admin, request: Request<Incoming>, peer: IpAddr) -> Answer {
    let path = &request.uri().path()[PATH.len()..];
    let answer = match (request.method(), path) {
        (&Method::GET, "" | "/") => page(admin, &request),
        (&Method::POST, "/sign-in") => sign_in(shard, admin, request, peer).await,
        (&Method::POST, "/sign-out") => to_page(cookie(shard, "", 0)),
        (method, path) => match part(path).filter(|_| method == Method::GET) {
            Some(part) => part,
            None => for_operator(shard, admin, request, peer).await,
        },
    };
    pages::guarded(answer, Frames::Nobody)
}

/// What only operators get, and do.
async fn for_operator(shard: &Shard, admin: &Admin, request: Request<Incoming>, peer: IpAddr) -> Answer {
    if let Some(refusal) = refused(admin, &request, peer).await {
        return refusal;
    }
    let path = &request.uri().path()[PATH.len()..];
    let query = request.uri().query().unwrap_or_default();
    match (request.method(), path) {
        (&Method::GET, "/state.json") => state(shard, admin),
        (&Method::GET, "/history.json") => inquiries::history(admin, query),
        (&Method::GET, "/sessions.json") => inquiries::sessions(shard, query).await,
        (&Method::GET, "/streams.json") => inquiries::streams(shard, query).await,
        (&Method::GET, "/settings.json") => inquiries::settings(admin),
        (&Method::POST, "/disconnect") => inquiries::disconnect(shard, request).await,
        (&Method::POST, "/log-level") => inquiries::log_level(shard, admin, request).await,
        (&Method::POST, "/drain") => inquiries::drain(shard, admin, request).await,
        _ => missing(),
    }
}

fn missing() -> Answer {
    text(StatusCode::NOT_FOUND, "There is no such admin page.")
}

/// A file of the page.
fn part(path: &str) -> Option<Answer> {
    match path {
        "/admin.css" => Some(pages::style(STYLE)),
        "/admin.js" => Some(pages::script(SCRIPT)),
        "/operating.js" => Some(pages::script(OPERATING)),
        "/past.js" => Some(pages::script(PAST)),
        path => pages::shared_part(path.strip_prefix('/')?),
    }
}

fn page<B>(admin: &Admin, request: &Request<B>) -> Answer {
    if is_signed_in(admin, request) {
        pages::html(StatusCode::OK, PAGE)
    } else {
        form(StatusCode::UNAUTHORIZED, "")
    }
}

fn form(status: StatusCode, complaint: &str) -> Answer {
    let complaint = match complaint {
        "" => String::new(),
        complaint => format!("<p role=\"alert\">{complaint}</p>"),
    };
    with_advice(pages::html(status, SIGN_IN.replace(COMPLAINT, &complaint)))
}

/// Adds a scheme, as RFC 9110 §15.5.2 requires with 401. Browsers show no dialog for this one.
fn with_advice(answer: Answer) -> Answer {
    match answer.status() {
        StatusCode::UNAUTHORIZED => with_header(answer, header::WWW_AUTHENTICATE, "Bearer"),
        StatusCode::TOO_MANY_REQUESTS => with_header(answer, header::RETRY_AFTER, "1"),
        _ => answer,
    }
}

/// The answer to a request that is not an operator's.
async fn refused<B>(admin: &Admin, request: &Request<B>, peer: IpAddr) -> Option<Answer> {
    if is_signed_in(admin, request) {
        return None;
    }
    let secret = request.headers().get(header::AUTHORIZATION);
    let secret = secret.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let refusal = match secret {
        Some(secret) => refusal(admin.gate.judge(secret, peer).await),
        None => Some((
            StatusCode::UNAUTHORIZED,
            "Send the secret: Authorization: Bearer SECRET.",
        )),
    };
    refusal.map(|(status, reason)| with_advice(text(status, reason)))
}

fn state(shard: &Shard, admin: &Admin) -> Answer {
    let state = admin.described(|| describe(shard, admin));
    answer_of(StatusCode::OK, "application/json", state)
}

fn describe(shard: &Shard, admin: &Admin) -> Bytes {
    let facts = Facts {
        uptime: admin.started.elapsed(),
        n_shards: shard.config.n_shards,
        max_connections: shard.config.max_connections,
        log_level: admin.operations.log_level(),
        warnings: admin.operations.warnings(),
        pending_subscriptions: shard.shared.pending_subscriptions.summary(),
        slow_sessions: admin.slow_sessions.look(),
        largest_streams: shard
            .shared
            .archive
            .as_ref()
            .map(|archive| archive.largest(MAX_STREAMS, "").0),
    };
    let state = State::new(&shard.config.registry, facts, SystemTime::now());
    serde_json::to_vec(&state)
        .expect("maps have texts as keys")
        .into()
}

async fn sign_in(shard: &Shard, admin: &Admin, request: Request<Incoming>, peer: IpAddr) -> Answer {
    let body = match body::read(
        shard,
        request.into_body(),
        MAX_FORM_BYTES,
        shard.config.handshake_timeout,
    )
    .await
    {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    let secret = form_urlencoded::parse(body.bytes()).find(|(name, _)| name == "secret");
    let secret = secret.map(|(_, secret)| secret).unwrap_or_default();
    match refusal(admin.gate.judge(secret.as_bytes(), peer).await) {
        Some((status, reason)) => form(status, reason),
        None => {
            let admission = admin.gate.admit(SystemTime::now());
            to_page(cookie(shard, &admission, SESSION_LIFETIME.as_secs()))
        }
    }
}

fn refusal(verdict: Verdict) -> Option<(StatusCode, &'static str)> {
    match verdict {
        Verdict::Right => None,
        Verdict::Wrong => Some((StatusCode::UNAUTHORIZED, "The secret is wrong.")),
        Verdict::TooMany => Some((
            StatusCode::TOO_MANY_REQUESTS,
            "Too many wrong secrets came from your network. Try again in a second.",
        )),
    }
}

fn is_signed_in<B>(admin: &Admin, request: &Request<B>) -> bool {
    let headers = request.headers().get_all(header::COOKIE);
    let mut cookies = headers
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    cookies.any(|(name, value)| name == COOKIE && admin.gate.knows(value, SystemTime::now()))
}

/// A cookie that scripts cannot read, that other sites cannot send, and that a server with TLS sends over TLS only.
fn cookie(shard: &Shard, value: &str, seconds: u64) -> HeaderValue {
    let secure = match shard.config.tls {
        Some(_) => "; Secure",
        None => "",
    };
    let cookie =
        format!("{COOKIE}={value}; Path={PATH}; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    HeaderValue::try_from(cookie).expect("digits, letters and dots are a header")
}

fn to_page(cookie: HeaderValue) -> Answer {
    let mut answer = with_header(
        text(StatusCode::SEE_OTHER, "The page is at /admin."),
        header::LOCATION,
        PATH,
    );
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    answer
}
