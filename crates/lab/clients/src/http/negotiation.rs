//! Signing a connection in with NTLM, in k6's order: a request without credentials, because the connection may be signed
//! in already; then the answers to what the server asks for.
//!
//! NTLM signs connections in, not requests. So a negotiation keeps its connection, and the pool gets it afterwards.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    Authentication, Request, Response,
    connection::Connection,
    credentials,
    ntlm::{self, Account, Challenge, Fresh, NtlmError},
    pool::Origin,
};

/// Seconds from the year 1601, at which the clock of NTLM begins, to 1970.
const SECONDS_BEFORE_1970: u64 = 11_644_473_600;

/// The exchanges of one request until the server lets it in.
pub(super) struct Negotiation {
    name: String,
    password: String,
    leg: Leg,
    /// The connection that is being signed in. `None` before the first exchange, and if the server closed it.
    pub(super) connection: Option<(Origin, Connection)>,
}

/// The last message of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leg {
    Anonymous,
    Negotiate,
    Authenticate,
}

/// What a server asks for. Of both schemes, a client chooses the first one. As in k6, Basic gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scheme {
    Ntlm,
    Negotiate,
}

impl Scheme {
    const ALL: [Self; 2] = [Self::Ntlm, Self::Negotiate];

    fn name(self) -> &'static str {
        match self {
            Self::Ntlm => "NTLM",
            Self::Negotiate => "Negotiate",
        }
    }

    /// The scheme of a `WWW-Authenticate` field, and the text after it.
    fn parse(field: &str) -> Option<(Self, &str)> {
        let (name, rest) = field.trim().split_once(' ').unwrap_or((field.trim(), ""));
        let scheme = Self::ALL
            .into_iter()
            .find(|scheme| scheme.name().eq_ignore_ascii_case(name))?;
        Some((scheme, rest.trim()))
    }
}

impl Negotiation {
    /// The negotiation of a request; `None` if it wants none, or has no credentials.
    pub(super) fn of(request: &Request) -> Option<Box<Self>> {
        if request.authentication != Authentication::Ntlm {
            return None;
        }
        let (name, password) = credentials::of_request(request)?;
        Some(Box::new(Self {
            name,
            password,
            leg: Leg::Anonymous,
            connection: None,
        }))
    }

    /// The `Authorization` field that answers a response with status 401; `None` if the response is the final one.
    ///
    /// # Errors
    /// When the server's challenge cannot be answered.
    pub(super) fn answer(&mut self, response: &Response) -> Result<Option<String>, NtlmError> {
        let fields = response.headers.get_all("www-authenticate");
        let schemes = fields.filter_map(|field| Scheme::parse(std::str::from_utf8(field).ok()?));
        let Some((scheme, token)) = schemes.min_by_key(|(scheme, _)| *scheme) else {
            return Ok(None);
        };
        let message = match self.leg {
            Leg::Anonymous => {
                self.leg = Leg::Negotiate;
                ntlm::negotiate()
            }
            Leg::Negotiate if !token.is_empty() => {
                self.leg = Leg::Authenticate;
                self.authenticate(token)?
            }
            Leg::Negotiate | Leg::Authenticate => return Ok(None),
        };
        let encoded = BASE64_STANDARD.encode(message);
        Ok(Some(format!("{} {encoded}", scheme.name())))
    }

    fn authenticate(&self, token: &str) -> Result<Vec<u8>, NtlmError> {
        let challenge = BASE64_STANDARD.decode(token).map_err(|_| NtlmError::NotBase64)?;
        let fresh = Fresh {
            nonce: fastrand::u64(..),
            now: now(),
        };
        let account = Account::new(&self.name, &self.password);
        Challenge::parse(&challenge)?.answer(&account, fresh)
    }
}

/// The clock, in tenths of a microsecond since the year 1601.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() + SECONDS_BEFORE_1970) * 10_000_000 + u64::from(since.subsec_nanos()) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_read_as_servers_write_them() {
        let check = |field: &str, expected: Option<(Scheme, &str)>| {
            assert_eq!(Scheme::parse(field), expected, "{field}");
        };
        check("NTLM", Some((Scheme::Ntlm, "")));
        check("ntlm  abc=", Some((Scheme::Ntlm, "abc=")));
        check("Negotiate", Some((Scheme::Negotiate, "")));
        check(r#"Basic realm="r""#, None);
        check("NTLMv2", None);
        check("Digest realm=r", None);
    }
}
