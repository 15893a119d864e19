//! Connections of the page: who is answered, and with what around it.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use plimsoll_loopback::{Origin, accept, guard, protocol, within};
use plimsoll_report::html::{SCRIPT, STYLE};
use tokio::net::{TcpListener, TcpStream};

use super::{
    pages::{self, Page},
    question::Question,
    site::Site,
};

/// Only its own script and style; the form that chooses runs leads to its own pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

const HTML_TYPE: &str = "text/html; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

/// Serves forever. To be polled on a `LocalSet`.
pub(super) async fn serve(listener: TcpListener, site: Arc<Site>) {
    accept(listener, |stream| converse(stream, Arc::clone(&site))).await;
}

async fn converse(stream: TcpStream, site: Arc<Site>) {
    let service = service_fn(|request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(respond(&request, site).await) }
    });
    // A connection that ends early is a tab that was closed.
    let _closed = protocol().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: &Request<Incoming>, site: Arc<Site>) -> Response<Full<Bytes>> {
    if !Origin::of(request.headers()).is_local(site.address) {
        return refusal(StatusCode::FORBIDDEN, "only this machine may open this page\n");
    }
    let uri = request.uri();
    let Some(page) = within(uri.path(), &site.secret) else {
        return refusal(
            StatusCode::NOT_FOUND,
            "this is not the whole address of the page; use the one that `plimsoll ui` printed\n",
        );
    };
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "this page only accepts GET requests\n",
        );
    }
    match page {
        "page.js" => found("text/javascript; charset=utf-8", SCRIPT),
        "page.css" => found("text/css; charset=utf-8", STYLE),
        page => match Question::of(page, uri.query().unwrap_or("")) {
            Some(question) => made(question, site).await,
            None => refusal(StatusCode::NOT_FOUND, "there is no such page\n"),
        },
    }
}

/// A page that is made on a thread of its own: the disk may be slow, and so may a comparison.
async fn made(question: Question, site: Arc<Site>) -> Response<Full<Bytes>> {
    let page = tokio::task::spawn_blocking(move || pages::answer(&question, &site.folder));
    match page.await {
        Ok(Page {
            status,
            html,
            is_report,
        }) => answer(status, HTML_TYPE, html, (!is_report).then_some(POLICY)),
        Err(_) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page could not be made; this is a defect of Plimsoll\n",
        ),
    }
}

fn found(content_type: &'static str, text: &'static str) -> Response<Full<Bytes>> {
    answer(StatusCode::OK, content_type, text, Some(POLICY))
}

fn refusal(status: StatusCode, reason: &'static str) -> Response<Full<Bytes>> {
    answer(status, TEXT_TYPE, reason, Some(POLICY))
}

/// `policy` is `None` for a page that has its own.
fn answer(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
    policy: Option<&'static str>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    guard(headers, policy);
    response
}
