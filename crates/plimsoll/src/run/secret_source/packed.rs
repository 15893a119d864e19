//! The sources of secrets that a coordinator sends to its agents, if a flag asks for it.

use std::{collections::BTreeMap, fmt};

use plimsoll_script::{KeptSecrets, Redaction, SecretSource, Secrets, SecretsError};
use serde::{Deserialize, Serialize};

use super::SourceFlag;
use crate::{run::mistake::Mistake, surroundings::Surroundings};

/// Sources with their secrets. `Debug` output has none of them.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct PackedSecrets(Vec<PackedSource>);

#[derive(Clone, Serialize, Deserialize)]
struct PackedSource {
    name: String,
    is_default: bool,
    secrets: BTreeMap<String, String>,
}

impl fmt::Debug for PackedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PackedSecrets")
    }
}

impl PackedSecrets {
    /// The secrets of all these flags. `redaction` hides all of them from now on: this process does not hear which ones
    /// agents read.
    ///
    /// # Errors
    /// For people: a source cannot be read, or it is a server, whose secrets are not known before they are asked for.
    pub(in crate::run) fn pack(
        flags: &[String],
        surroundings: &Surroundings<'_>,
        redaction: &Redaction,
    ) -> Result<Self, Mistake> {
        let pack = |flag: &String| {
            let source = flag.parse::<SourceFlag>()?.read(surroundings)?;
            let KeptSecrets::Here(secrets) = source.secrets else {
                return Err(format!(
                    "the source `{}` is a server, and --fleet-secrets sends those of `file` and `mock` only; put the \
                     secrets that the script needs into a file",
                    source.name
                ));
            };
            for secret in secrets.values() {
                redaction.hide(secret);
            }
            Ok(PackedSource {
                name: source.name,
                is_default: source.is_default,
                secrets,
            })
        };
        let packed = flags.iter().map(pack).collect::<Result<_, String>>();
        packed
            .map(Self)
            .map_err(|problem| Mistake::new("--secret-source", problem))
    }

    /// The secrets for the scripts of an agent. What they read, `redaction` knows from then on.
    ///
    /// # Errors
    /// Sources that cannot stand beside each other.
    pub(in crate::run) fn unpack(&self, redaction: &Redaction) -> Result<Secrets, SecretsError> {
        let sources = self.0.iter().map(|source| SecretSource {
            name: source.name.clone(),
            is_default: source.is_default,
            secrets: KeptSecrets::Here(source.secrets.clone()),
        });
        Secrets::new(sources.collect(), redaction.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_hidden_here_and_servers_are_refused() {
        let surroundings = Surroundings::of_variables(&[]);
        let redaction = Redaction::default();
        let pack = |flag: &str| PackedSecrets::pack(&[flag.to_owned()], &surroundings, &redaction);
        let packed = pack("mock=name=staging,token=tea-4711").unwrap();
        assert_eq!(redaction.redact("a tea-4711"), "a ***SECRET_REDACTED***");
        assert!(!format!("{packed:?}").contains("tea"));
        let text = serde_json::to_string(&packed).unwrap();
        let read: PackedSecrets = serde_json::from_str(&text).unwrap();
        assert!(read.unpack(&Redaction::default()).is_ok());
        let server = pack("url=urlTemplate=http://localhost:1/{key}").unwrap_err();
        assert!(
            server.to_string().contains("the source `url` is a server"),
            "{server}"
        );
    }
}
