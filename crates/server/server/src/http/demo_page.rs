//! The page `/` of the demo's server: its chat room for people with a browser, beside the users of the load test. A
//! plain `plimsoll serve` has no such page, because its `/` belongs to the operator.

use hyper::{Method, Request, StatusCode};

use super::{
    answers::Answer,
    pages::{self, Frames},
};
use crate::Config;

const PAGE: &str = include_str!("../../assets/demo/page.html");
const STYLE: &str = include_str!("../../assets/demo/demo.css");
const SCRIPT: &str = include_str!("../../assets/demo/demo.js");

/// The answer, if this server has the page and the request is for the page or one of its parts.
pub(super) fn answer<B>(config: &Config, request: &Request<B>) -> Option<Answer> {
    if !config.serves_demo_page || request.method() != Method::GET {
        return None;
    }
    let answer = match request.uri().path() {
        "/" => pages::html(StatusCode::OK, PAGE),
        "/demo/demo.css" => pages::style(STYLE),
        "/demo/demo.js" => pages::script(SCRIPT),
        path => pages::shared_part(path.strip_prefix("/demo/")?)?,
    };
    Some(pages::guarded(answer, Frames::ThisMachine))
}
