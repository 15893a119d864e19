//! Channels that the server answers without the application, because the identifier names the stream: signed and public
//! streams, Turbo Streams and CableReady (docs/protocols/identification.md, Signed stream names).

use std::sync::Arc;

use plimsoll_cable::{
    reply,
    signed_name::{SignedNameError, Verifier},
};

use crate::log_form::LogForm;

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest,
    MayResume, PRESENCE_STREAM, Reply, StateChanges, Status, WHISPER_STREAM, channel::Channel,
};

/// Stands in front of an application and answers for these channels. Leaves all other channels, and `connect`, to the
/// application.
pub struct StreamChannels {
    channels: Vec<StreamChannel>,
    application: Arc<dyn Application>,
}

/// One channel that the server answers.
#[derive(Debug)]
pub struct StreamChannel {
    /// The value of `channel` in its identifiers.
    name: String,
    /// The field of the signed name in an identifier.
    signed_field: &'static str,
    /// Verifies signed names. `None`: no signed name is accepted.
    verifier: Option<Verifier>,
    /// Whether a plain `stream_name` is accepted.
    takes_plain_names: bool,
    /// What subscribers of a signed stream may do besides listening.
    signed_rights: StreamRights,
    /// What subscribers of a public stream may do besides listening.
    public_rights: StreamRights,
}

/// What the subscribers of a stream may do besides listening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamRights {
    /// Whether they may whisper.
    pub whisper: bool,
    /// Whether they may be present, and ask who is.
    pub presence: bool,
}

/// A stream that a client may listen to.
#[derive(Debug, PartialEq, Eq)]
struct Grant {
    stream: String,
    rights: StreamRights,
}

/// Why a client gets no stream.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    SignedName(#[from] SignedNameError),
    #[error("the identifier has no {0:?}")]
    NoName(&'static str),
    #[error("a stream's name must be signed here")]
    NotPublic,
    #[error("a stream's name may not be empty")]
    EmptyName,
}

impl StreamChannel {
    /// AnyCable's own channel, normally called `$pubsub`: names signed with `secret`, and plain names if `public_rights`
    /// is given.
    pub fn pubsub(
        name: String,
        secret: Option<&str>,
        signed_rights: StreamRights,
        public_rights: Option<StreamRights>,
    ) -> Self {
        Self {
            name,
            signed_field: "signed_stream_name",
            verifier: secret.map(Verifier::new),
            takes_plain_names: public_rights.is_some(),
            signed_rights,
            public_rights: public_rights.unwrap_or_default(),
        }
    }

    /// Hotwire's Turbo Streams, signed with the `Turbo.signed_stream_verifier_key`.
    pub fn turbo(secret: &str) -> Self {
        Self::signed("Turbo::StreamsChannel", "signed_stream_name", secret)
    }

    /// CableReady's streams.
    pub fn cable_ready(secret: &str) -> Self {
        Self::signed("CableReady::Stream", "identifier", secret)
    }

    fn signed(name: &str, signed_field: &'static str, secret: &str) -> Self {
        Self {
            name: name.to_owned(),
            signed_field,
            verifier: Some(Verifier::new(secret)),
            takes_plain_names: false,
            signed_rights: StreamRights::default(),
            public_rights: StreamRights::default(),
        }
    }

    fn grant(&self, parameters: &Channel) -> Result<Grant, Refusal> {
        let signed = parameters.parameter(self.signed_field);
        let grant = match (signed, &self.verifier, parameters.parameter("stream_name")) {
            (Some(signed), Some(verifier), _) => Grant {
                stream: verifier.verify(&signed)?,
                rights: self.signed_rights,
            },
            (_, _, Some(stream)) if self.takes_plain_names => Grant {
                stream,
                rights: self.public_rights,
            },
            (None, _, Some(_)) => return Err(Refusal::NotPublic),
            (Some(_), None, _) => return Err(SignedNameError::WrongSignature.into()),
            (None, _, None) => return Err(Refusal::NoName(self.signed_field)),
        };
        if grant.stream.is_empty() {
            Err(Refusal::EmptyName)
        } else {
            Ok(grant)
        }
    }
}

impl StreamChannels {
    /// Creates it in front of `application`.
    pub fn new(channels: Vec<StreamChannel>, application: Arc<dyn Application>) -> Self {
        Self {
            channels,
            application,
        }
    }

    /// The channel that answers for an identifier. `None`: the application answers.
    fn find(&self, identifier: &str) -> Option<(&StreamChannel, Channel)> {
        let parameters = Channel::parse(identifier)?;
        let channel = self
            .channels
            .iter()
            .find(|channel| channel.name == parameters.name)?;
        Some((channel, parameters))
    }

    fn subscribe(
        &self,
        channel: &StreamChannel,
        parameters: &Channel,
        request: &CommandRequest<'_>,
    ) -> CommandReply {
        let identifier = request.identifier;
        match channel.grant(parameters) {
            Ok(Grant { stream, rights }) => CommandReply {
                status: Status::Accepted,
                istate: rights.state(&stream),
                streams: vec![stream],
                transmissions: vec![reply::encode_confirm(identifier)],
                hears_of_end: self.application.hears_of_every_end(),
                ..CommandReply::default()
            },
            Err(refusal) => {
                tracing::debug!(
                    sid = request.sid,
                    identifier = %LogForm(identifier),
                    "A subscription is rejected: {refusal}."
                );
                CommandReply {
                    transmissions: vec![reply::encode_reject(identifier)],
                    ..CommandReply::default()
                }
            }
        }
    }
}

impl Application for StreamChannels {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        self.application.connect(request)
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        let Some((channel, parameters)) = self.find(request.identifier) else {
            return self.application.command(request);
        };
        let reply = match request.action {
            Action::Subscribe => self.subscribe(channel, &parameters, request),
            Action::Unsubscribe => CommandReply::default(),
            Action::Perform(_) => {
                tracing::debug!(
                    sid = request.sid,
                    channel = channel.name,
                    "The channel has no actions."
                );
                CommandReply::default()
            }
        };
        Box::pin(std::future::ready(reply))
    }

    fn keeps_state_in_sessions(&self) -> bool {
        self.application.keeps_state_in_sessions()
    }

    fn may_resume<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, MayResume> {
        self.application.may_resume(request)
    }

    fn hears_of_every_end(&self) -> bool {
        self.application.hears_of_every_end()
    }

    /// Omits subscriptions to these channels, because the application never heard of them.
    fn disconnect(&self, mut request: DisconnectRequest) {
        let is_its_own = |identifier: &str| self.find(identifier).is_none();
        request.subscriptions.retain(|identifier| is_its_own(identifier));
        request.istate.retain(|identifier, _| is_its_own(identifier));
        self.application.disconnect(request);
    }

    fn stopping(&self) {
        self.application.stopping();
    }

    fn finish(&self) -> Reply<'_, ()> {
        self.application.finish()
    }
}

impl StreamRights {
    /// The subscription's state that gives the rights.
    fn state(self, stream: &str) -> StateChanges {
        let keys = [
            self.whisper.then_some(WHISPER_STREAM),
            self.presence.then_some(PRESENCE_STREAM),
        ];
        let keys = keys.into_iter().flatten();
        keys.map(|key| (key.to_owned(), stream.to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name signed by Rails with `s3cr3t`.
    const SIGNED: &str = "ImNoYXQvMjAyMyI=--92681d73b6a2c7f43ebabe8cb78625c005935b17473630265c8d96d6237fbc4b";
    const SIGNED_EMPTY: &str = "IiI=--fa7cfe3c792b6fba95be15c0ee1c4a7d7c46ec351903687b979e44eb41688576";

    #[track_caller]
    fn check(channel: &StreamChannel, identifier: &str, expected: Result<(&str, StreamRights), &str>) {
        let parameters = Channel::parse(identifier).expect("an identifier");
        let granted = channel.grant(&parameters).map_err(|refusal| refusal.to_string());
        let granted = granted.as_ref().map(|grant| (&*grant.stream, grant.rights));
        assert_eq!(granted.map_err(String::as_str), expected, "{identifier}");
    }

    const NONE: StreamRights = StreamRights {
        whisper: false,
        presence: false,
    };

    const WHISPER: StreamRights = StreamRights {
        whisper: true,
        ..NONE
    };

    fn pubsub(secret: Option<&str>, signed: StreamRights, public: Option<StreamRights>) -> StreamChannel {
        StreamChannel::pubsub("$pubsub".to_owned(), secret, signed, public)
    }

    #[test]
    fn rights_are_state_of_the_subscription() {
        for (whisper, presence, keys) in [
            (false, false, &[][..]),
            (true, false, &["$w"]),
            (true, true, &["$p", "$w"]),
        ] {
            let state = StreamRights { whisper, presence }.state("chat");
            assert!(state.keys().eq(keys), "{state:?}");
            assert!(state.values().all(|stream| stream == "chat"));
        }
    }

    #[test]
    fn a_name_is_signed_or_public_or_refused() {
        let signed = format!(r#"{{"channel":"$pubsub","signed_stream_name":"{SIGNED}"}}"#);
        let both = r#"{"channel":"$pubsub","signed_stream_name":"x","stream_name":"chat"}"#;
        let plain = r#"{"channel":"$pubsub","stream_name":"chat"}"#;
        let none = r#"{"channel":"$pubsub"}"#;
        let not_public = Err("a stream's name must be signed here");
        let wrong = Err("the signature does not belong to the name");
        let malformed = Err("a signed name has the form `base64--hex`");
        let no_name = Err("the identifier has no \"signed_stream_name\"");

        let closed = pubsub(Some("s3cr3t"), NONE, None);
        check(&closed, &signed, Ok(("chat/2023", NONE)));
        check(&closed, plain, not_public);
        check(&closed, both, malformed);
        check(&closed, none, no_name);
        check(
            &pubsub(Some("s3cr3t"), WHISPER, None),
            &signed,
            Ok(("chat/2023", WHISPER)),
        );
        check(&pubsub(Some("other"), WHISPER, Some(WHISPER)), &signed, wrong);

        let public = pubsub(None, NONE, Some(WHISPER));
        check(&public, plain, Ok(("chat", WHISPER)));
        check(&public, &signed, wrong);
        check(&public, none, no_name);
        let empty = Err("a stream's name may not be empty");
        check(&public, r#"{"channel":"$pubsub","stream_name":""}"#, empty);
        let signed_empty = format!(r#"{{"channel":"$pubsub","signed_stream_name":"{SIGNED_EMPTY}"}}"#);
        check(&closed, &signed_empty, empty);
    }

    #[test]
    fn turbo_and_cable_ready_take_signed_names_only_and_never_whisper() {
        let identifier = |channel, field| format!(r#"{{"channel":"{channel}","{field}":"{SIGNED}"}}"#);
        let turbo = identifier("Turbo::StreamsChannel", "signed_stream_name");
        check(&StreamChannel::turbo("s3cr3t"), &turbo, Ok(("chat/2023", NONE)));
        let cable_ready = identifier("CableReady::Stream", "identifier");
        check(
            &StreamChannel::cable_ready("s3cr3t"),
            &cable_ready,
            Ok(("chat/2023", NONE)),
        );
        check(
            &StreamChannel::cable_ready("s3cr3t"),
            r#"{"channel":"CableReady::Stream","stream_name":"chat"}"#,
            Err("a stream's name must be signed here"),
        );
    }
}
