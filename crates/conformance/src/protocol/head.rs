//! HTTP heads, read strictly, with mistakes in words (RFC 9112 §2–5).

use tokio::io::AsyncReadExt as _;

use crate::address::Duplex;

/// The longest head that is read. Reason: no answer to a handshake has more than a few hundred bytes.
pub(crate) const MOST_HEAD_BYTES: usize = 64 << 10;

/// The error when there is no head.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHead {
    /// Data that is not HTTP.
    #[error("{0}")]
    Nonsense(String),
    /// The end of the connection.
    #[error("the end of the connection instead of an answer")]
    Ended,
}

/// A request or a response, up to the empty line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The request line or the status line.
    pub(crate) first_line: String,
    /// Names as they were written, and values without the space around them.
    pub(crate) fields: Vec<(String, String)>,
}

impl Head {
    /// Reads a head at the front of `bytes`, and how long it is; nothing while it is incomplete.
    ///
    /// # Errors
    /// What about it is not HTTP.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, String> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return match bytes.len() {
                0..MOST_HEAD_BYTES => Ok(None),
                _ => Err(format!("a head of more than {MOST_HEAD_BYTES} bytes")),
            };
        };
        let text = str::from_utf8(&bytes[..end]).map_err(|_| "a head that is not UTF-8".to_owned())?;
        let mut lines = text.split("\r\n");
        let first_line = lines.next().unwrap_or_default().to_owned();
        let fields = lines.map(read_field).collect::<Result<_, _>>()?;
        Ok(Some((Self { first_line, fields }, end + 4)))
    }

    /// Reads from a stream into `bytes`, which is empty, until there is a head at its front, and how long that is.
    ///
    /// # Errors
    /// None comes.
    pub(crate) async fn receive(
        stream: &mut dyn Duplex,
        bytes: &mut Vec<u8>,
    ) -> Result<(Self, usize), NoHead> {
        loop {
            if let Some(head) = Self::read(bytes).map_err(NoHead::Nonsense)? {
                return Ok(head);
            }
            match stream.read_buf(bytes).await {
                Ok(1..) => {}
                Ok(0) if !bytes.is_empty() => {
                    let what = "the beginning of a head and then the end";
                    return Err(NoHead::Nonsense(what.to_owned()));
                }
                Ok(0) | Err(_) => return Err(NoHead::Ended),
            }
        }
    }

    /// The values of all fields with this name.
    pub(crate) fn values<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let fields = self
            .fields
            .iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_str())
    }

    /// The only value of a field.
    ///
    /// # Errors
    /// It is missing, or there more than once.
    pub(crate) fn only<'h>(&'h self, name: &'h str) -> Result<&'h str, String> {
        let mut values = self.values(name);
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(value),
            (None, _) => Err(format!("{name} is missing")),
            (Some(_), Some(_)) => Err(format!("{name} is there more than once")),
        }
    }

    /// Whether one of the elements of a list is this, in any case.
    pub(crate) fn lists(&self, name: &str, token: &str) -> bool {
        self.values(name)
            .flat_map(|value| value.split(','))
            .any(|element| element.trim().eq_ignore_ascii_case(token))
    }

    /// The status, if the first line is a status line of HTTP/1.1.
    pub(crate) fn status(&self) -> Option<u16> {
        let rest = self.first_line.strip_prefix("HTTP/1.1 ")?;
        let status = rest.get(..3)?;
        matches!(rest.as_bytes().get(3), None | Some(b' ')).then(|| status.parse().ok())?
    }
}

fn read_field(line: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    match line.split_once(':') {
        Some((name, value))
            if is_name(name) && !value.contains(|c: char| c.is_ascii_control() && c != '\t') =>
        {
            Ok((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        }
        _ => Err(format!("{line:?}, which is not a header field")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_strictly() {
        let bytes = b"HTTP/1.1 101 Yes\r\nUpgrade: websocket \r\nA:b\r\na: c, D\r\n\r\nrest";
        for n_bytes in 0..bytes.len() - 4 {
            assert_eq!(Head::read(&bytes[..n_bytes]), Ok(None), "{n_bytes}");
        }
        let (head, n_bytes) = Head::read(bytes).unwrap().unwrap();
        assert_eq!((head.status(), n_bytes), (Some(101), bytes.len() - 4));
        assert_eq!(head.only("upgrade"), Ok("websocket"));
        assert_eq!(head.only("a"), Err("a is there more than once".to_owned()));
        assert_eq!(head.only("x"), Err("x is missing".to_owned()));
        assert!(head.lists("A", "d"));
        for wrong in ["A b: c", "A : c", " folded", "A: \0", "none"] {
            assert!(
                Head::read(format!("HTTP/1.1 200 OK\r\n{wrong}\r\n\r\n").as_bytes()).is_err(),
                "{wrong:?}"
            );
        }
        assert!(Head::read(&vec![b'a'; MOST_HEAD_BYTES]).is_err());
    }

    #[test]
    fn only_http_1_1_has_a_status() {
        for (line, expected) in [
            ("HTTP/1.1 101 Switching Protocols", Some(101)),
            ("HTTP/1.1 101", Some(101)),
            ("HTTP/1.0 101 x", None),
            ("HTTP/1.1 1010", None),
            ("HTTP/1.1 ok", None),
        ] {
            let head = Head {
                first_line: line.to_owned(),
                fields: Vec::new(),
            };
            assert_eq!(head.status(), expected, "{line}");
        }
    }
}
