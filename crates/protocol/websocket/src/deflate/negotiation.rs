//! Negotiation of the four parameters of permessage-deflate (RFC 7692 §7.1).

use super::parameters::Parameters;
use super::{Direction, WindowBits};
use crate::role::Role;

#[cfg(test)]
mod tests;

/// The parameters that an endpoint asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preferences {
    /// The parameters of the server's compression.
    pub server: Direction,
    /// The parameters of the client's compression. A client that cannot limit its window keeps the full one.
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

/// The parameters that both ends agreed on for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    server: Direction,
    client: Direction,
    /// The parameters in the server's response. They name no more than the offer allows, so they cannot be derived from
    /// the agreed ones.
    response: Parameters,
}

impl Agreed {
    /// The compression parameters of the end with this role.
    pub fn sent_by(&self, role: Role) -> Direction {
        match role {
            Role::Server => self.server,
            Role::Client => self.client,
        }
    }

    /// Parameters without a handshake.
    #[cfg(test)]
    pub(crate) fn of(server: Direction, client: Direction) -> Self {
        Self {
            server,
            client,
            response: Parameters::default(),
        }
    }

    /// The server's `Sec-WebSocket-Extensions`.
    pub(crate) fn response(&self) -> &Parameters {
        &self.response
    }
}

impl Preferences {
    /// The only offer in the client's `Sec-WebSocket-Extensions`.
    pub(crate) fn offer(&self) -> Parameters {
        let limit = |direction: Direction| Some(direction.window).filter(|window| *window < WindowBits::MAX);
        Parameters {
            server_no_context_takeover: !self.server.context_takeover,
            client_no_context_takeover: !self.client.context_takeover,
            server_max_window_bits: limit(self.server).map(WindowBits::get),
            client_max_window_bits: Some(limit(self.client).map(WindowBits::get)),
        }
    }

    /// The server's choice: the first offer that it can fulfil.
    pub(crate) fn choose(&self, offers: &[Parameters]) -> Option<Agreed> {
        offers.iter().find_map(|offer| self.accept(offer))
    }

    fn accept(&self, offer: &Parameters) -> Option<Agreed> {
        let server = Direction {
            context_takeover: self.server.context_takeover && !offer.server_no_context_takeover,
            window: match offer.server_max_window_bits {
                None => self.server.window,
                Some(bits) => WindowBits::new(bits)?.min(self.server.window),
            },
        };
        let client_limit = match offer.client_max_window_bits {
            // The client does not know the parameter, so its window cannot be limited.
            None => None,
            Some(None) => Some(self.client.window),
            // 8 is only a hint, which may be ignored (RFC 7692 §7.1.2.2); the full window covers it.
            Some(Some(bits)) => WindowBits::new(bits).map(|window| window.min(self.client.window)),
        };
        let client = Direction {
            context_takeover: self.client.context_takeover && !offer.client_no_context_takeover,
            window: client_limit.unwrap_or(WindowBits::MAX),
        };
        let response = Parameters {
            server_no_context_takeover: !server.context_takeover,
            client_no_context_takeover: !client.context_takeover,
            server_max_window_bits: offer.server_max_window_bits.map(|_| server.window.get()),
            client_max_window_bits: client_limit
                .filter(|window| *window < WindowBits::MAX)
                .map(|window| Some(window.get())),
        };
        Some(Agreed {
            server,
            client,
            response,
        })
    }

    /// Checks the server's response to [`offer`](Self::offer) for the client; `None` if it violates the offer.
    pub(crate) fn verify(&self, response: &Parameters) -> Option<Agreed> {
        let server = Direction {
            context_takeover: !response.server_no_context_takeover,
            window: match response.server_max_window_bits {
                None => WindowBits::MAX,
                // 8 is valid for messages that we receive, because a larger window covers a smaller one.
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
            response: *response,
        })
    }
}
