//! Identifies clients without asking the application: by a token, or by accepting everyone.

use std::{sync::Arc, time::SystemTime};

use plimsoll_cable::{
    disconnect::DisconnectReason,
    reply,
    token::{KeySet, Keys, Secret, TokenError, Verified},
};

use super::{
    Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest, Environment,
    MayResume, Reply, StateChanges,
};
use crate::{ProxiedHeaders, jwks::Jwks};

/// Stands in front of an application and identifies the clients that it can. Leaves the other clients, and all calls
/// except `connect`, to the application.
pub struct Identification {
    tokens: Option<Tokens>,
    without_token: WithoutToken,
    checks_returns: bool,
    application: Arc<dyn Application>,
}

/// The place of tokens and the keys that verify them (docs/protocols/identification.md, Tokens).
#[derive(Debug)]
pub struct Tokens {
    /// The name of the query parameter. The header's name has `x-` in front.
    pub parameter: String,
    /// The secret for symmetrically signed tokens.
    pub secret: Option<Secret>,
    /// The public keys for tokens signed with a private key.
    pub jwks: Option<Jwks>,
}

/// The treatment of clients without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutToken {
    /// The application decides.
    Application,
    /// The client is accepted, and its session id becomes its identity.
    Public,
    /// The client is refused.
    Refused,
}

impl Identification {
    /// Creates it in front of `application`.
    pub fn new(
        tokens: Option<Tokens>,
        without_token: WithoutToken,
        application: Arc<dyn Application>,
    ) -> Self {
        Self {
            tokens,
            without_token,
            checks_returns: false,
            application,
        }
    }

    /// A client goes on with an earlier session only if it has a valid token with the session's identifiers.
    #[must_use]
    pub fn checking_returns(mut self) -> Self {
        self.checks_returns = true;
        self
    }

    fn accepted(&self, sid: &str, identifiers: String, expires_at: Option<SystemTime>) -> ConnectReply {
        ConnectReply::Accepted {
            identifiers,
            transmissions: vec![reply::encode_welcome(sid)],
            cstate: StateChanges::new(),
            hears_of_end: self.application.hears_of_every_end(),
            expires_at,
        }
    }

    fn identified(&self, sid: &str, verified: Result<Verified, TokenError>) -> ConnectReply {
        let error = match verified {
            Ok(token) => return self.accepted(sid, token.identifiers, token.expires_at),
            Err(error) => error,
        };
        tracing::debug!(sid, "Refused a client: {error}.");
        match error {
            TokenError::Expired => refused(DisconnectReason::TokenExpired),
            TokenError::UnknownKey | TokenError::Invalid(_) => refused(DisconnectReason::Unauthorized),
            // AnyCable calls this an error of the token's issuer, not of the client.
            TokenError::NoIdentifiers => ConnectReply::Failed,
        }
    }
}

impl Application for Identification {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        let token = self.tokens.as_ref().and_then(|tokens| {
            let token = tokens.find(&request.environment)?;
            Some((tokens, token))
        });
        match (token, self.without_token) {
            (Some((tokens, token)), _) => Box::pin(async move {
                match tokens.verify(token).await {
                    Some(verified) => self.identified(&request.sid, verified),
                    None => ConnectReply::Failed,
                }
            }),
            (None, WithoutToken::Application) => self.application.connect(request),
            (None, WithoutToken::Public) => {
                let identifiers = serde_json::json!({ "sid": request.sid }).to_string();
                ready(self.accepted(&request.sid, identifiers, None))
            }
            (None, WithoutToken::Refused) => ready(refused(DisconnectReason::Unauthorized)),
        }
    }

    fn may_resume<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, MayResume> {
        let Some(tokens) = self.tokens.as_ref().filter(|_| self.checks_returns) else {
            return self.application.may_resume(request);
        };
        Box::pin(async move {
            let Some(token) = tokens.find(&request.environment) else {
                return MayResume::None;
            };
            match tokens.verify(token).await {
                Some(Ok(verified)) => MayResume::Of(verified.identifiers),
                Some(Err(_)) | None => MayResume::None,
            }
        })
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        self.application.command(request)
    }

    fn keeps_state_in_sessions(&self) -> bool {
        self.application.keeps_state_in_sessions()
    }

    fn hears_of_every_end(&self) -> bool {
        self.application.hears_of_every_end()
    }

    fn disconnect(&self, request: DisconnectRequest) {
        self.application.disconnect(request);
    }

    fn stopping(&self) {
        self.application.stopping();
    }

    fn finish(&self) -> Reply<'_, ()> {
        self.application.finish()
    }
}

impl Tokens {
    /// The client's token: from the header (which also holds one from the sub-protocol `anycable-token.…`), else from
    /// the query.
    fn find<'a>(&self, environment: &'a Environment) -> Option<&'a str> {
        let header = environment
            .headers
            .get(&ProxiedHeaders::token_header(&self.parameter));
        let query = || query_value(&environment.url, &self.parameter);
        header.map(|token| &**token).or_else(query)
    }

    /// Verifies a token. `None` if the keys are unavailable.
    async fn verify(&self, token: &str) -> Option<Result<Verified, TokenError>> {
        let Some(jwks) = &self.jwks else {
            return Some(self.verify_with(None, token));
        };
        let seen = jwks.snapshot();
        let verified = self.verify_with(Some(&seen.keys), token);
        if !matches!(verified, Err(TokenError::UnknownKey)) {
            return Some(verified);
        }
        let is_current = jwks.renew(&seen).await;
        let verified = self.verify_with(Some(&jwks.snapshot().keys), token);
        let may_be_known_elsewhere = matches!(verified, Err(TokenError::UnknownKey)) && !is_current;
        (!may_be_known_elsewhere).then_some(verified)
    }

    fn verify_with(&self, set: Option<&KeySet>, token: &str) -> Result<Verified, TokenError> {
        let keys = Keys {
            secret: self.secret.as_ref(),
            set,
        };
        keys.verify(token, SystemTime::now())
    }
}

/// The first value of a query parameter that is not empty. Tokens consist of characters that need no escaping.
fn query_value<'a>(url: &'a str, parameter: &str) -> Option<&'a str> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == parameter && !value.is_empty()).then_some(value))
}

fn refused(reason: DisconnectReason) -> ConnectReply {
    ConnectReply::Refused {
        transmissions: vec![reply::encode_disconnect(reason, reason.reconnect())],
    }
}

fn ready<T>(reply: T) -> Reply<'static, T>
where
    T: 'static,
{
    Box::pin(std::future::ready(reply))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_token(url: &str, header: Option<&str>, expected: Option<&str>) {
        let environment = Environment {
            url: url.to_owned(),
            headers: header.map(|token| ("x-jid", token)).into_iter().collect(),
            ..Environment::default()
        };
        let tokens = Tokens {
            parameter: "jid".to_owned(),
            secret: None,
            jwks: None,
        };
        assert_eq!(tokens.find(&environment), expected, "{url} {header:?}");
    }

    #[test]
    fn the_header_wins_over_the_query() {
        check_token("http://x/cable", None, None);
        check_token("http://x/cable?jid=q", None, Some("q"));
        check_token("http://x/cable?jid=q", Some("h"), Some("h"));
        check_token("http://x/cable?a=1&jid=q.r-s_t&b=2", None, Some("q.r-s_t"));
        check_token("http://x/cable?jid=&jid=q", None, Some("q"));
        check_token("http://x/cable?xjid=q&jid", None, None);
        check_token("http://x/cable", Some("h"), Some("h"));
    }
}
