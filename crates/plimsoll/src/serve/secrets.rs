//! The flags that hold secrets, and which one counts for what.

use clap::Args;
use plimsoll_cable::derived_key;

/// The value that says "no secret for this", where otherwise one would come from `--secret`.
const NONE: &str = "none";

/// What the server shares with its backends.
#[derive(Debug, Args)]
#[group(id = "secrets")]
pub(super) struct Secrets {
    /// The application's secret. Tokens and stream names are signed with it, and the keys for broadcasts and RPC are
    /// derived from it, where they have no secret of their own.
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Key that backends must send to broadcast (`Authorization: Bearer KEY`); `none` for no key in spite of
    /// --secret. With a key, broadcasts are taken on the main port; without one, on a port of their own.
    #[arg(long, value_name = "KEY", alias = "http-broadcast-secret")]
    broadcast_key: Option<String>,
    /// Key that the server sends to an application over HTTP; `none` for no key in spite of --secret.
    #[arg(long, value_name = "KEY")]
    http_rpc_secret: Option<String>,
}

impl Secrets {
    /// The key for broadcasts over HTTP.
    pub(super) fn broadcast_key(&self) -> Option<String> {
        self.own_or_derived(self.broadcast_key.as_deref(), "broadcast-cable")
    }

    /// The key that an application over HTTP gets.
    pub(super) fn rpc_secret(&self) -> Option<String> {
        self.own_or_derived(self.http_rpc_secret.as_deref(), "rpc-cable")
    }

    fn own_or_derived(&self, own: Option<&str>, purpose: &str) -> Option<String> {
        match own.filter(|own| !own.is_empty()) {
            Some(NONE) => None,
            Some(own) => Some(own.to_owned()),
            None => Some(derived_key::derive(self.application_secret()?, purpose)),
        }
    }

    /// An empty value is no secret: that is what an unset variable of a deployment script leaves.
    fn application_secret(&self) -> Option<&str> {
        let secret = self.secret.as_deref();
        secret.filter(|secret| !secret.is_empty() && *secret != NONE)
    }
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
        assert_eq!(
            secrets(arguments).broadcast_key().as_deref(),
            expected,
            "{arguments:?}"
        );
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
}
