//! Cookies (RFC 6265): parsing `Set-Cookie`, and the jar of a virtual user.
//!
//! There is no list of public suffixes, as in k6: a test uses servers that its author knows.

mod cookie;
mod date;
mod jar;

pub use self::{cookie::Cookie, date::parse_date, jar::CookieJar};
