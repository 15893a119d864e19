//! The parameters of a request to read a stream.

use super::offset::Offset;
use crate::http::percent::decoded;

/// How a reader wants to hear of later messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all: the answer has the messages that are there.
    CatchUp,
    /// The answer waits until there are some.
    LongPoll,
    /// The answer goes on, as events.
    Events,
}

/// A request to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) stream: String,
    pub(super) offset: Offset,
    pub(super) mode: Mode,
    /// The cursor of the last answer.
    pub(super) cursor: Option<String>,
    /// The signed name of the stream, from the query.
    pub(super) signed: Option<String>,
}

impl Wanted {
    /// Parses the rest of the path behind `/ds`, and the query. Parameters of other purposes are left to the
    /// application.
    ///
    /// # Errors
    /// The problem, for people.
    pub(super) fn parse(path: &str, query: &str) -> Result<Self, &'static str> {
        let stream = path.strip_prefix('/').filter(|stream| !stream.is_empty());
        let stream = stream.ok_or("The path names no stream; expected something like /ds/chat/42.")?;
        let stream = decoded(stream).ok_or("The name of the stream is not percent-encoded UTF-8.")?;
        let parameter = |wanted: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find_map(|(name, value)| (name == wanted).then(|| value.into_owned()))
        };
        let mode = match parameter("live").as_deref() {
            None | Some("" | "false") => Mode::CatchUp,
            Some("long-poll") => Mode::LongPoll,
            Some("sse") => Mode::Events,
            Some(_) => return Err("The parameter live is neither long-poll nor sse."),
        };
        let offset = parameter("offset");
        if mode != Mode::CatchUp && offset.as_deref().is_none_or(str::is_empty) {
            return Err(
                "A live read needs the parameter offset: -1, now, or the Stream-Next-Offset of an answer.",
            );
        }
        let offset = Offset::parse(offset.as_deref());
        Ok(Self {
            stream,
            offset: offset.ok_or("The offset is none of -1, now and the Stream-Next-Offset of an answer.")?,
            mode,
            cursor: parameter("cursor"),
            signed: parameter("signed").filter(|signed| !signed.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, query: &str, expected: Result<(&str, &str, Mode), &str>) {
        let found = Wanted::parse(path, query);
        let found = found.map(|wanted| (wanted.stream, wanted.offset.to_string(), wanted.mode));
        match (found, expected) {
            (Ok((stream, offset, mode)), Ok(expected)) => {
                assert_eq!((&*stream, &*offset, mode), expected, "{path}?{query}");
            }
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (found, _) => panic!("{path}?{query}: {found:?}"),
        }
    }

    #[test]
    fn path_and_query_say_what_is_read() {
        check("/room", "", Ok(("room", "-1", Mode::CatchUp)));
        check("/chat/42", "offset=now", Ok(("chat/42", "now", Mode::CatchUp)));
        check("/chat%2F42%20a", "live=", Ok(("chat/42 a", "-1", Mode::CatchUp)));
        check(
            "/a",
            "offset=7%3A%3Ax&live=long-poll&jid=x",
            Ok(("a", "0000000000000007::x", Mode::LongPoll)),
        );
        check("/a", "live=sse&offset=-1", Ok(("a", "-1", Mode::Events)));
        check("", "", Err("names no stream"));
        check("/", "", Err("names no stream"));
        check("/%FF", "", Err("not percent-encoded"));
        check("/a", "live=sse", Err("needs the parameter offset"));
        check("/a", "live=ws&offset=-1", Err("neither long-poll nor sse"));
        check("/a", "offset=seven", Err("The offset is none of"));
    }
}
