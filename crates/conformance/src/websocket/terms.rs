//! `Sec-WebSocket-Extensions`: offers, answers, and whether an answer keeps to the offer (RFC 7692 §7.1).

use crate::protocol::{
    deflate::{Deflate, Direction},
    head::Head,
};

/// The extension that this tester knows.
const NAME: &str = "permessage-deflate";

/// The parameters of one offer of permessage-deflate, or of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) server_no_context_takeover: bool,
    pub(super) client_no_context_takeover: bool,
    pub(super) server_max_window_bits: Option<u8>,
    /// `Some(None)`: the parameter without a value, which only offers have.
    pub(super) client_max_window_bits: Option<Option<u8>>,
}

impl Terms {
    /// The offer of a client that can limit its window and demands nothing.
    pub(super) const MODEST: Self = Self {
        server_no_context_takeover: false,
        client_no_context_takeover: false,
        server_max_window_bits: None,
        client_max_window_bits: Some(None),
    };

    /// The terms as a header value.
    pub(super) fn header(&self) -> String {
        let mut text = NAME.to_owned();
        if self.server_no_context_takeover {
            text.push_str("; server_no_context_takeover");
        }
        if self.client_no_context_takeover {
            text.push_str("; client_no_context_takeover");
        }
        if let Some(bits) = self.server_max_window_bits {
            text.push_str(&format!("; server_max_window_bits={bits}"));
        }
        match self.client_max_window_bits {
            Some(Some(bits)) => text.push_str(&format!("; client_max_window_bits={bits}")),
            Some(None) => text.push_str("; client_max_window_bits"),
            None => {}
        }
        text
    }

    /// Several offers, the preferred one first.
    pub(super) fn headers(offers: &[Self]) -> String {
        let all: Vec<String> = offers.iter().map(Self::header).collect();
        all.join(", ")
    }

    /// Reads all elements of a header; an element that is not permessage-deflate or has parameters that it does not have
    /// is an error with its text.
    pub(super) fn read(header: &str) -> Vec<Result<Self, String>> {
        let elements = header
            .split(',')
            .map(str::trim)
            .filter(|element| !element.is_empty());
        elements
            .map(|element| Self::read_one(element).ok_or_else(|| element.to_owned()))
            .collect()
    }

    fn read_one(element: &str) -> Option<Self> {
        let mut parts = element.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut terms = Self::default();
        let mut seen = Vec::new();
        for part in parts {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim(), Some(bits(value)?)),
                None => (part, None),
            };
            if seen.contains(&name) {
                return None;
            }
            seen.push(name);
            match (name, value) {
                ("server_no_context_takeover", None) => terms.server_no_context_takeover = true,
                ("client_no_context_takeover", None) => terms.client_no_context_takeover = true,
                ("server_max_window_bits", Some(bits)) => terms.server_max_window_bits = Some(bits),
                ("client_max_window_bits", value) => terms.client_max_window_bits = Some(value),
                _ => return None,
            }
        }
        Some(terms)
    }

    /// Whether a server may answer an offer with these terms; if not, why.
    pub(super) fn answers(&self, offer: &Self) -> Result<(), String> {
        if offer.server_no_context_takeover && !self.server_no_context_takeover {
            return Err("the answer leaves out server_no_context_takeover (RFC 7692 §7.1.1.1)".to_owned());
        }
        match (offer.server_max_window_bits, self.server_max_window_bits) {
            (Some(_), None) => {
                return Err("the answer leaves out server_max_window_bits (RFC 7692 §7.1.2.1)".to_owned());
            }
            (Some(most), Some(bits)) if bits > most => {
                return Err(format!(
                    "the answer has server_max_window_bits={bits}, more than the offered {most} (RFC 7692 §7.1.2.1)"
                ));
            }
            _ => {}
        }
        match (offer.client_max_window_bits, self.client_max_window_bits) {
            (_, Some(None)) => {
                Err("client_max_window_bits needs a value in an answer (RFC 7692 §7.1.2.2)".to_owned())
            }
            (None, Some(_)) => Err(
                "the answer has client_max_window_bits, which was not offered (RFC 7692 §7.1.2.2)".to_owned(),
            ),
            (Some(Some(most)), Some(Some(bits))) if bits > most => Err(format!(
                "the answer has client_max_window_bits={bits}, more than the offered {most} (RFC 7692 §7.1.2.2)"
            )),
            _ => Ok(()),
        }
    }

    /// The plainest answer to a client's request: the demands of its first valid offer, and no more. `None` when it
    /// offers no compression.
    pub(super) fn answering(request: &Head) -> Option<Self> {
        Self::limiting(request, &Self::default())
    }

    /// The answer that limits the client as `wanted`; `None` when the client did not offer such a limit.
    pub(super) fn limiting(request: &Head, wanted: &Self) -> Option<Self> {
        let mut offers = request.values("Sec-WebSocket-Extensions").flat_map(Self::read);
        offers.find_map(|offer| {
            let offer = offer.ok()?;
            let client_max_window_bits = match (
                wanted.client_max_window_bits.flatten(),
                offer.client_max_window_bits,
            ) {
                (None, _) => None,
                (Some(_), None) => return None,
                (Some(bits), Some(most)) => Some(Some(bits.min(most.unwrap_or(15)))),
            };
            Some(Self {
                server_no_context_takeover: offer.server_no_context_takeover,
                // A client that announces it may support nothing else, and fail the connection without it (RFC 7692 §7).
                client_no_context_takeover: wanted.client_no_context_takeover
                    || offer.client_no_context_takeover,
                server_max_window_bits: offer.server_max_window_bits,
                client_max_window_bits,
            })
        })
    }

    /// The server's compression under these terms.
    fn server(&self) -> Direction {
        Direction {
            takes_over: !self.server_no_context_takeover,
            window_bits: self.server_max_window_bits.unwrap_or(15),
        }
    }

    /// The client's compression under these terms.
    fn client(&self) -> Direction {
        Direction {
            takes_over: !self.client_no_context_takeover,
            window_bits: self.client_max_window_bits.flatten().unwrap_or(15),
        }
    }

    /// The state of a tester that is the client.
    pub(super) fn of_client(&self) -> Deflate {
        Deflate::new(self.client(), self.server())
    }

    /// The state of a tester that is the server.
    pub(super) fn of_server(&self) -> Deflate {
        Deflate::new(self.server(), self.client())
    }
}

/// The value of a parameter of window bits (RFC 7692 §7.1.2): 8–15 without leading zeros, with or without quotes.
fn bits(value: &str) -> Option<u8> {
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let value = quoted.map_or_else(|| value.to_owned(), unescaped);
    let bits = value.parse().ok().filter(|bits| (8..=15).contains(bits))?;
    (!value.starts_with(['0', '+'])).then_some(bits)
}

/// The content of a quoted string, without its backslash escapes (RFC 9110 §5.6.4).
fn unescaped(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' {
            characters.next()
        } else {
            None
        };
        plain.push(escaped.unwrap_or(character));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        for header in [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9; \
             client_max_window_bits=15",
        ] {
            let read = Terms::read(header);
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].as_ref().map(Terms::header), Ok(header.to_owned()));
        }
        for (header, n_good) in [
            ("x-unknown, permessage-deflate", 1),
            ("permessage-deflate; server_max_window_bits=\"10\"", 1),
            (r#"permessage-deflate; server_max_window_bits="1\0""#, 1),
            (r#"permessage-deflate; server_max_window_bits="1\\0""#, 0),
            (r#"permessage-deflate; server_max_window_bits="10\""#, 0),
            (r"permessage-deflate; server_max_window_bits=1\0", 0),
            ("permessage-deflate; server_max_window_bits=7", 0),
            ("permessage-deflate; server_max_window_bits=010", 0),
            ("permessage-deflate; server_max_window_bits", 0),
            ("permessage-deflate; server_no_context_takeover=1", 0),
            (
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
                0,
            ),
            ("permessage-deflate; x", 0),
        ] {
            assert_eq!(
                Terms::read(header).iter().filter(|read| read.is_ok()).count(),
                n_good,
                "{header}"
            );
        }
    }

    #[test]
    fn an_answer_repeats_what_the_client_offers() {
        for (offer, expected) in [
            ("permessage-deflate", "permessage-deflate"),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            ),
            (
                "permessage-deflate; server_max_window_bits=10; client_max_window_bits",
                "permessage-deflate; server_max_window_bits=10",
            ),
        ] {
            let text = format!("GET / HTTP/1.1\r\nSec-WebSocket-Extensions: {offer}\r\n\r\n");
            let (request, _) = Head::read(text.as_bytes()).unwrap().unwrap();
            let answer = Terms::answering(&request).map(|terms| terms.header());
            assert_eq!(answer.as_deref(), Some(expected), "{offer}");
        }
    }

    #[track_caller]
    fn check(offer: &str, answer: &str, expected: Option<&str>) {
        let read = |header| Terms::read(header).remove(0).unwrap();
        let complaint = read(answer).answers(&read(offer)).err();
        match expected {
            None => assert_eq!(complaint, None),
            Some(part) => assert!(
                complaint.as_ref().is_some_and(|text| text.contains(part)),
                "{complaint:?}"
            ),
        }
    }

    #[test]
    fn answers_are_held_against_the_offer() {
        let all = "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits";
        check("permessage-deflate", "permessage-deflate", None);
        check(
            "permessage-deflate",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            None,
        );
        check(
            "permessage-deflate",
            "permessage-deflate; server_max_window_bits=9",
            None,
        );
        check(
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits=9",
            Some("which was not offered"),
        );
        check(
            all,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=10",
            None,
        );
        check(
            all,
            "permessage-deflate; server_max_window_bits=10",
            Some("leaves out server_no_context_takeover"),
        );
        check(
            all,
            "permessage-deflate; server_no_context_takeover",
            Some("leaves out server_max_window_bits"),
        );
        check(
            all,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
            Some("more than the offered 10"),
        );
        check(
            all,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=9; client_max_window_bits",
            Some("needs a value"),
        );
    }
}
