//! Agreement on the four parameters of permessage-deflate (RFC 7692 §7.1).

use std::mem::replace;

use super::{Direction, WindowBits};
use crate::config::Role;
use crate::handshake::extension::Extension;

#[cfg(test)]
mod tests;

/// The registered name of the extension.
const NAME: &str = "permessage-deflate";

/// What an endpoint asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preferences {
    /// How the server may compress.
    pub server: Direction,
    /// How the client may compress. A client that cannot limit its window keeps the full one.
    pub client: Direction,
}

impl Default for Preferences {
    /// No context takeover in either direction: an idle connection holds no compression state.
    fn default() -> Self {
        Self {
            server: Direction::STATELESS,
            client: Direction::STATELESS,
        }
    }
}

/// What both ends agreed on for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    server: Direction,
    client: Direction,
    /// Parameters that the response names. A window may only be limited if the offer allowed it.
    names_server_window: bool,
    names_client_window: bool,
}

impl Agreed {
    /// How the end with this role compresses.
    pub fn sent_by(&self, role: Role) -> Direction {
        match role {
            Role::Server => self.server,
            Role::Client => self.client,
        }
    }

    /// Terms without a handshake.
    #[cfg(test)]
    pub(crate) fn of(server: Direction, client: Direction) -> Self {
        Self {
            server,
            client,
            names_server_window: false,
            names_client_window: false,
        }
    }

    /// The value of the server's `Sec-WebSocket-Extensions`.
    pub(crate) fn response(&self) -> String {
        let window = |named: bool, direction: Direction| named.then_some(Some(direction.window));
        header_value(
            self.server,
            window(self.names_server_window, self.server),
            self.client,
            window(self.names_client_window, self.client),
        )
    }
}

impl Preferences {
    /// The value of the client's `Sec-WebSocket-Extensions`: one offer.
    pub(crate) fn offer(&self) -> String {
        let limit = |direction: Direction| Some(direction.window).filter(|window| *window < WindowBits::MAX);
        header_value(
            self.server,
            limit(self.server).map(Some),
            self.client,
            Some(limit(self.client)),
        )
    }

    /// The server's choice: the first offer that can be fulfilled.
    pub(crate) fn choose(&self, offers: &[Offer]) -> Option<Agreed> {
        offers.iter().find_map(|offer| self.accept(offer))
    }

    fn accept(&self, offer: &Offer) -> Option<Agreed> {
        let server_window = match offer.server_max_window_bits {
            None => self.server.window,
            Some(bits) => WindowBits::new(bits)?.min(self.server.window),
        };
        let client_limit = match offer.client_max_window_bits {
            None => None,
            Some(None) => Some(self.client.window),
            // 8 is only a hint, which may be ignored (RFC 7692 §7.1.2.2); the full window covers it.
            Some(Some(bits)) => WindowBits::new(bits).map(|window| window.min(self.client.window)),
        };
        Some(Agreed {
            server: Direction {
                context_takeover: self.server.context_takeover && !offer.server_no_context_takeover,
                window: server_window,
            },
            client: Direction {
                context_takeover: self.client.context_takeover && !offer.client_no_context_takeover,
                window: client_limit.unwrap_or(WindowBits::MAX),
            },
            names_server_window: offer.server_max_window_bits.is_some(),
            names_client_window: client_limit.is_some_and(|window| window < WindowBits::MAX),
        })
    }

    /// The client's check of the server's response to [`offer`](Self::offer); `None` when it breaks the terms.
    pub(crate) fn verify(&self, response: &Offer) -> Option<Agreed> {
        let server = Direction {
            context_takeover: !response.server_no_context_takeover,
            window: match response.server_max_window_bits {
                None => WindowBits::MAX,
                // 8 is good for what we receive: a larger window covers a smaller one.
                Some(bits) => WindowBits::new(bits).unwrap_or(WindowBits::MIN),
            },
        };
        let is_wider = server.context_takeover && !self.server.context_takeover;
        if is_wider || server.window > self.server.window {
            return None;
        }
        let client = Direction {
            context_takeover: self.client.context_takeover && !response.client_no_context_takeover,
            window: match response.client_max_window_bits {
                None => self.client.window,
                Some(bits) => WindowBits::new(bits?)?.min(self.client.window),
            },
        };
        Some(Agreed {
            server,
            client,
            names_server_window: false,
            names_client_window: false,
        })
    }
}

/// One `permessage-deflate` element, of an offer or of a response, with valid parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Offer {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_max_window_bits: Option<u8>,
    /// The value may be absent in an offer, to say only that the parameter is understood.
    client_max_window_bits: Option<Option<u8>>,
}

impl Offer {
    /// Reads an element. `None` for another extension, and for unknown, repeated or malformed parameters, which
    /// decline the offer (RFC 7692 §7.1).
    pub(crate) fn parse(extension: &Extension<'_>) -> Option<Self> {
        if !extension.name.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut offer = Self::default();
        for &(name, value) in &extension.parameters {
            let is_repeated = match (name, value) {
                ("server_no_context_takeover", None) => replace(&mut offer.server_no_context_takeover, true),
                ("client_no_context_takeover", None) => replace(&mut offer.client_no_context_takeover, true),
                ("server_max_window_bits", Some(bits)) => offer
                    .server_max_window_bits
                    .replace(parse_window_bits(bits)?)
                    .is_some(),
                ("client_max_window_bits", None) => offer.client_max_window_bits.replace(None).is_some(),
                ("client_max_window_bits", Some(bits)) => offer
                    .client_max_window_bits
                    .replace(Some(parse_window_bits(bits)?))
                    .is_some(),
                _ => return None,
            };
            if is_repeated {
                return None;
            }
        }
        Some(offer)
    }
}

/// A decimal 8–15 without leading zeros (RFC 7692 §7.1.2).
fn parse_window_bits(value: &str) -> Option<u8> {
    let bits = value.parse().ok().filter(|bits| (8..=15).contains(bits))?;
    (!value.starts_with(['0', '+'])).then_some(bits)
}

/// Writes an element. A window is named with a value, without one (`Some(None)`), or not at all.
fn header_value(
    server: Direction,
    server_window: Option<Option<WindowBits>>,
    client: Direction,
    client_window: Option<Option<WindowBits>>,
) -> String {
    let mut value = NAME.to_owned();
    if !server.context_takeover {
        value.push_str("; server_no_context_takeover");
    }
    if !client.context_takeover {
        value.push_str("; client_no_context_takeover");
    }
    let windows = [
        ("server_max_window_bits", server_window),
        ("client_max_window_bits", client_window),
    ];
    for (name, window) in windows {
        if let Some(window) = window {
            value.push_str("; ");
            value.push_str(name);
            if let Some(bits) = window {
                value.push_str(&format!("={bits}"));
            }
        }
    }
    value
}
