//! The flags that hold secrets, and which one counts for what.

use clap::Args;
use plimsoll_cable::derived_key;

/// The value that says "no secret for this", where otherwise one would come from `--secret`.
const NONE: &str = "none";

/// The fewest characters of a secret that guessers reach over the network: even of letters alone there are 2^75 then.
const MIN_LENGTH: usize = 16;

/// The secrets that the server shares with its backends.
#[derive(Debug, Args)]
#[command(next_help_heading = "Secrets")]
#[group(id = "secrets")]
pub(super) struct Secrets {
    /// The application's secret. It signs tokens and stream names, and the keys for broadcasts and RPC are derived
    /// from it, unless they have their own secret.
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Key that backends must send to broadcast (`Authorization: Bearer KEY`); `none` for no key despite --secret.
    /// With a key, the main port accepts broadcasts; without a key, a separate port does.
    #[arg(long, value_name = "KEY")]
    broadcast_key: Option<String>,
    /// Key that backends must send to use the REST API (`Authorization: Bearer KEY`); `none` for no key despite --secret.
    #[arg(long, value_name = "KEY")]
    api_secret: Option<String>,
    /// Key that the server sends to an application over HTTP; `none` for no key despite --secret.
    #[arg(long, value_name = "KEY")]
    http_rpc_secret: Option<String>,
    /// Key that the server sends to the webhook of presence (`Authorization: Bearer KEY`); `none` for no key despite
    /// --secret.
    #[arg(long, value_name = "KEY")]
    presence_webhook_secret: Option<String>,
    /// Secret that tokens (JWT) of clients are signed with.
    #[arg(long, value_name = "SECRET")]
    jwt_secret: Option<String>,
    /// Secret that stream names are signed with.
    #[arg(long, value_name = "SECRET")]
    streams_secret: Option<String>,
    /// Secret of Turbo Streams (`Turbo.signed_stream_verifier_key`). Default: the value of --streams_secret.
    #[arg(long, value_name = "SECRET")]
    turbo_streams_secret: Option<String>,
    /// Secret of CableReady. Default: the value of --streams_secret.
    #[arg(long, value_name = "SECRET")]
    cable_ready_secret: Option<String>,
    /// Secret of the page for operators at /admin, at least 16 characters. Without this secret there is no such page;
    /// --secret does not set it.
    #[arg(long, value_name = "SECRET", value_parser = long_secret)]
    admin_secret: Option<String>,
}

impl Secrets {
    /// The key for broadcasts over HTTP. With `--public` it is only a given key, and no derived one.
    pub(super) fn broadcast_key(&self, is_public: bool) -> Option<String> {
        if is_public {
            first_of(&[&self.broadcast_key]).map(str::to_owned)
        } else {
            self.own_or_derived(&self.broadcast_key, "broadcast-cable")
        }
    }

    /// The key for the REST API.
    pub(super) fn api_secret(&self) -> Option<String> {
        self.own_or_derived(&self.api_secret, "api-cable")
    }

    /// The key that an application over HTTP gets.
    pub(super) fn rpc_secret(&self) -> Option<String> {
        self.own_or_derived(&self.http_rpc_secret, "rpc-cable")
    }

    /// The key that the webhook of presence gets.
    pub(super) fn presence_webhook_secret(&self) -> Option<String> {
        self.own_or_derived(&self.presence_webhook_secret, "presence-cable")
    }

    /// The secret that signs tokens.
    pub(super) fn jwt_secret(&self) -> Option<&str> {
        first_of(&[&self.jwt_secret, &self.secret])
    }

    /// The secret that signs stream names.
    pub(super) fn streams_secret(&self) -> Option<&str> {
        first_of(&[&self.streams_secret, &self.secret])
    }

    /// The secret that signs names of Turbo Streams.
    pub(super) fn turbo_streams_secret(&self) -> Option<&str> {
        first_of(&[&self.turbo_streams_secret, &self.streams_secret, &self.secret])
    }

    /// The secret that signs names of CableReady.
    pub(super) fn cable_ready_secret(&self) -> Option<&str> {
        first_of(&[&self.cable_ready_secret, &self.streams_secret, &self.secret])
    }

    /// The secret of the page for operators.
    pub(super) fn admin_secret(&self) -> Option<&str> {
        first_of(&[&self.admin_secret])
    }

    fn own_or_derived(&self, own: &Option<String>, purpose: &str) -> Option<String> {
        match own.as_deref().unwrap_or_default() {
            "" => Some(derived_key::derive(first_of(&[&self.secret])?, purpose)),
            NONE => None,
            own => Some(own.to_owned()),
        }
    }
}

/// A secret that people invent is tried by others; a short one would be found. An empty one counts as not given.
fn long_secret(text: &str) -> Result<String, String> {
    match text.chars().count() {
        0 | MIN_LENGTH.. => Ok(text.to_owned()),
        _ => Err(format!(
            "expected at least {MIN_LENGTH} characters, because this secret protects the server; for example the \
             output of `openssl rand -hex 16`"
        )),
    }
}

/// The first given secret; `none` ends the search. An empty value counts as not given, because unset variables of
/// deployment scripts leave empty values.
fn first_of<'a>(secrets: &[&'a Option<String>]) -> Option<&'a str> {
    let mut given = secrets.iter().filter_map(|secret| secret.as_deref());
    given
        .find(|secret| !secret.is_empty())
        .filter(|secret| *secret != NONE)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        secrets: Secrets,
    }

    fn secrets(arguments: &[&str]) -> Secrets {
        let arguments = ["serve"].iter().chain(arguments);
        CommandLine::try_parse_from(arguments)
            .expect("valid flags")
            .secrets
    }

    #[track_caller]
    fn check_broadcast_key(arguments: &[&str], expected: Option<&str>) {
        let found = secrets(arguments).broadcast_key(false);
        assert_eq!(found.as_deref(), expected, "{arguments:?}");
    }

    #[test]
    fn with_public_only_a_key_that_is_given_counts() {
        let key = |arguments: &[&str]| secrets(arguments).broadcast_key(true);
        assert_eq!(key(&["--secret", "s3cret"]), None);
        assert_eq!(key(&["--secret", "s3cret", "--broadcast-key", "none"]), None);
        assert_eq!(key(&["--broadcast-key", "own"]).as_deref(), Some("own"));
    }

    #[test]
    fn a_key_of_its_own_goes_before_one_that_is_derived() {
        let derived = derived_key::derive("s3cret", "broadcast-cable");
        check_broadcast_key(&[], None);
        check_broadcast_key(&["--broadcast-key", "own"], Some("own"));
        check_broadcast_key(&["--secret", "s3cret"], Some(&derived));
        check_broadcast_key(&["--secret", "s3cret", "--broadcast-key", "own"], Some("own"));
        check_broadcast_key(&["--secret", "s3cret", "--broadcast-key", "none"], None);
        check_broadcast_key(&["--secret", "s3cret", "--broadcast-key", ""], Some(&derived));
        check_broadcast_key(&["--secret", ""], None);
        check_broadcast_key(&["--secret", "none"], None);
    }
    #[test]
    fn a_secret_of_its_own_goes_before_the_common_one() {
        let all = |arguments: &[&str]| {
            let secrets = secrets(arguments);
            let found = [
                secrets.jwt_secret(),
                secrets.streams_secret(),
                secrets.turbo_streams_secret(),
                secrets.cable_ready_secret(),
            ];
            found.map(|secret| secret.unwrap_or("-").to_owned())
        };
        assert_eq!(all(&[]), ["-"; 4]);
        assert_eq!(all(&["--secret", "s"]), ["s"; 4]);
        assert_eq!(all(&["--secret", "s", "--jwt-secret", "j"]), ["j", "s", "s", "s"]);
        assert_eq!(
            all(&["--secret", "s", "--streams-secret", "n"]),
            ["s", "n", "n", "n"]
        );
        assert_eq!(
            all(&["--secret", "s", "--streams-secret", "none"]),
            ["s", "-", "-", "-"]
        );
        assert_eq!(
            all(&["--secret", "s", "--turbo-streams-secret", "t"]),
            ["s", "s", "t", "s"]
        );
        assert_eq!(
            all(&["--secret", "s", "--cable-ready-secret", "c"]),
            ["s", "s", "s", "c"]
        );
    }
}
