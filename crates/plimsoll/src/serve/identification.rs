//! The flags about the identity of clients, and about streams that clients may subscribe to without the application.

use std::{sync::Arc, time::Duration};

use clap::Args;
use plimsoll_cable::token::Secret;
use plimsoll_server::{
    ProxiedHeaders,
    application::{
        Application, Identification, StreamChannel, StreamChannels, StreamRights, Tokens, WithoutToken,
    },
    jwks::{Jwks, Location},
};
use plimsoll_telemetry::Registry;

use super::{broker::BrokerOptions, secrets::Secrets};
use crate::exit::Failure;

/// The checks in front of the application.
#[derive(Debug, Args)]
#[command(next_help_heading = "Identification")]
#[group(id = "identification")]
pub(super) struct IdentificationOptions {
    /// Accept clients without a token, without asking the application.
    #[arg(long)]
    noauth: bool,
    /// Disable all protection: --noauth, --public_streams, and broadcasts without a key on a separate port.
    #[arg(long)]
    public: bool,
    /// Ask no application: clients need a token or --noauth, and subscribe to streams only.
    #[arg(long)]
    pub(super) norpc: bool,
    /// Query parameter with the token; the header has the same name with the prefix x-.
    #[arg(long, value_name = "NAME", default_value = "jid", value_parser = parameter_name)]
    jwt_param: String,
    /// Refuse clients without a token.
    #[arg(long)]
    enforce_jwt: bool,
    /// URL or file of the public keys (JWK Set) that tokens may be signed with, for RS256, PS256, ES256, EdDSA and
    /// similar.
    #[arg(long, value_name = "FILE_OR_URL")]
    jwt_jwks: Option<Location>,
    /// Seconds between two reads of these keys. A token that names an unknown key causes a read, too.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    jwt_jwks_refresh_interval: u64,
    /// Allow clients to subscribe to any stream by its name.
    #[arg(long)]
    public_streams: bool,
    /// Allow subscribers of signed streams to whisper to each other. Subscribers of public streams always may.
    #[arg(long)]
    streams_whisper: bool,
    /// Allow subscribers of signed streams to be present, and to ask who is. Subscribers of public streams always may.
    /// Needs --broker.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set)]
    streams_presence: bool,
    /// Channel of signed and public streams.
    #[arg(long, value_name = "NAME", default_value = "$pubsub")]
    pubsub_channel: String,
    /// Answer for Turbo::StreamsChannel.
    #[arg(long)]
    turbo_streams: bool,
    /// Answer for CableReady::Stream.
    #[arg(long)]
    cable_ready: bool,
}

/// Ready to be put in front of an application.
#[derive(Debug)]
pub(super) struct Front {
    tokens: Option<Tokens>,
    without_token: WithoutToken,
    checks_returns: bool,
    channels: Vec<StreamChannel>,
}

impl IdentificationOptions {
    /// Whether broadcasts need no key.
    pub(super) fn is_public(&self) -> bool {
        self.public
    }

    /// Adds the token to the parts of a client's request that the application gets.
    pub(super) fn with_token(&self, headers: ProxiedHeaders, secrets: &Secrets) -> ProxiedHeaders {
        if self.takes_tokens(secrets) {
            headers.with_token(&self.jwt_param)
        } else {
            headers
        }
    }

    /// Opens the key set, which is kept up to date from here on.
    ///
    /// Without a broker that keeps presence, the state for it would only take memory.
    pub(super) async fn prepare(
        &self,
        secrets: &Secrets,
        registry: &Registry,
        keeping: &BrokerOptions,
    ) -> Result<Front, Failure> {
        let (has_presence, checks_returns) = (keeping.keeps_presence(), keeping.checks_returns());
        if checks_returns && !self.takes_tokens(secrets) {
            let text = "--resume_check token would let no client go on with its session: give the secret or keys of \
                tokens with --jwt_secret, --jwt_jwks or --secret";
            return Err(Failure::Usage(text.to_owned()));
        }
        if self.enforce_jwt && !self.takes_tokens(secrets) {
            let text = "--enforce_jwt would refuse every client: give the secret or keys of tokens with \
                --jwt_secret, --jwt_jwks or --secret";
            return Err(Failure::Usage(text.to_owned()));
        }
        if self.public {
            tracing::warn!(
                "Every client may connect and subscribe to every stream, and every program that reaches the port for \
                 broadcasts may broadcast (--public)."
            );
        }
        Ok(Front {
            checks_returns,
            channels: self.channels(secrets, has_presence)?,
            tokens: self.tokens(secrets, registry).await?,
            without_token: match (self.enforce_jwt, self.noauth || self.public) {
                (true, _) => WithoutToken::Refused,
                (false, true) => WithoutToken::Public,
                (false, false) => WithoutToken::Application,
            },
        })
    }

    fn takes_tokens(&self, secrets: &Secrets) -> bool {
        self.jwt_jwks.is_some() || secrets.jwt_secret().is_some()
    }

    async fn tokens(&self, secrets: &Secrets, registry: &Registry) -> Result<Option<Tokens>, Failure> {
        if !self.takes_tokens(secrets) {
            return Ok(None);
        }
        let jwks = match &self.jwt_jwks {
            Some(location) => {
                let interval = Duration::from_secs(self.jwt_jwks_refresh_interval);
                let (jwks, renewal) =
                    Jwks::open(location.clone(), interval, registry.dependency("jwks")).await?;
                tokio::spawn(renewal.run());
                Some(jwks)
            }
            None => None,
        };
        Ok(Some(Tokens {
            parameter: self.jwt_param.clone(),
            secret: secrets.jwt_secret().map(Secret::new),
            jwks,
        }))
    }

    fn channels(&self, secrets: &Secrets, has_broker: bool) -> Result<Vec<StreamChannel>, Failure> {
        let mut channels = Vec::new();
        let is_public = self.public_streams || self.public;
        let streams_secret = secrets.streams_secret();
        if streams_secret.is_some() || is_public {
            let name = self.pubsub_channel.clone();
            channels.push(StreamChannel::pubsub(
                name,
                streams_secret,
                StreamRights {
                    whisper: self.streams_whisper,
                    presence: self.streams_presence && has_broker,
                },
                is_public.then_some(StreamRights {
                    whisper: true,
                    presence: has_broker,
                }),
            ));
        }
        if self.turbo_streams {
            let secret = required(secrets.turbo_streams_secret(), "turbo_streams")?;
            channels.push(StreamChannel::turbo(secret));
        }
        if self.cable_ready {
            let secret = required(secrets.cable_ready_secret(), "cable_ready")?;
            channels.push(StreamChannel::cable_ready(secret));
        }
        Ok(channels)
    }
}

impl Front {
    /// The public keys of tokens, if there are any.
    pub(super) fn jwks(&self) -> Option<Jwks> {
        self.tokens.as_ref()?.jwks.clone()
    }

    /// The application as clients meet it.
    pub(super) fn place_before(self, application: Arc<dyn Application>) -> Arc<dyn Application> {
        let mut front = application;
        if !self.channels.is_empty() {
            front = Arc::new(StreamChannels::new(self.channels, front));
        }
        if self.tokens.is_some() || self.without_token != WithoutToken::Application {
            let identification = Identification::new(self.tokens, self.without_token, front);
            front = Arc::new(if self.checks_returns {
                identification.checking_returns()
            } else {
                identification
            });
        }
        front
    }
}

fn required<'a>(secret: Option<&'a str>, flag: &str) -> Result<&'a str, Failure> {
    secret.ok_or_else(|| {
        Failure::Usage(format!(
            "--{flag} needs the secret that signs the names: give --{flag}_secret, --streams_secret or --secret"
        ))
    })
}

/// The name of a parameter. It becomes a part of a header's name.
fn parameter_name(text: &str) -> Result<String, String> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_valid) {
        Ok(text.to_owned())
    } else {
        Err("expected letters, digits, - and _, for example jid".to_owned())
    }
}
