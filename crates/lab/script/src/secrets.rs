//! Secrets that scripts read with `k6/secrets`, and their absence from what people read of a run.

mod server;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
};

pub use self::server::{SecretServer, SecretServerSettings};

/// What stands for a secret in a log; k6's words, which people search for.
const REDACTED: &str = "***SECRET_REDACTED***";

/// One place with secrets. Its values are in no `Debug` output.
#[derive(Clone)]
pub struct SecretSource {
    /// What `secrets.source(name)` finds it by.
    pub name: String,
    /// Whether `secrets.get(key)` reads it. A source that is alone does not need it.
    pub is_default: bool,
    /// Its secrets.
    pub secrets: KeptSecrets,
}

/// Where the secrets of a source are.
#[derive(Clone)]
pub enum KeptSecrets {
    /// Here, by key.
    Here(BTreeMap<String, String>),
    /// At a server, which is asked when a script reads one; where a script cannot wait, the function does.
    AtServer(Arc<SecretServer>, WaitForSecret),
}

/// A secret once the server has given it, or why it has not.
pub type LaterSecret = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// Blocks its thread, which may belong to a runtime, until there is a secret.
pub type WaitForSecret = fn(LaterSecret) -> Result<String, String>;

/// What a script gets for a key.
pub(crate) enum Found {
    /// The secret.
    Here(String),
    /// It comes from a server.
    Later(LaterSecret, WaitForSecret),
}

/// Why sources cannot stand beside each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// A script could not tell them apart.
    #[error(
        "two secret sources have the name `{0}`; rename one of them with name=, for example name=staging"
    )]
    SameName(String),
    /// Two secret sources claim to be the default of `secrets.get`.
    #[error("`{0}` and `{1}` are both the default; remove `default` from one of them")]
    TwoDefaults(String, String),
}

/// All sources of a run.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: Vec<SecretSource>,
    redaction: Redaction,
}

/// Knows the secrets that scripts have read, and takes them out of texts. Clones know the same ones.
#[derive(Clone, Default)]
pub struct Redaction(Arc<RwLock<Vec<String>>>);

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretSource")
            .field("name", &self.name)
            .field("is_default", &self.is_default)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

impl Secrets {
    /// These sources; what scripts read of them, `redaction` knows from then on.
    ///
    /// # Errors
    /// When two have the same name, or two are the default.
    pub fn new(mut sources: Vec<SecretSource>, redaction: Redaction) -> Result<Self, SecretsError> {
        for (position, source) in sources.iter().enumerate() {
            let before = &sources[..position];
            if before.iter().any(|other| other.name == source.name) {
                return Err(SecretsError::SameName(source.name.clone()));
            }
            if let Some(other) = before.iter().find(|other| other.is_default && source.is_default) {
                return Err(SecretsError::TwoDefaults(other.name.clone(), source.name.clone()));
            }
        }
        if let [alone] = sources.as_mut_slice() {
            alone.is_default = true;
        }
        Ok(Self { sources, redaction })
    }

    /// A secret of the named source, or of the default one, which is also called `default`.
    ///
    /// # Errors
    /// For people: there is no such source or key.
    pub(crate) fn get(&self, source: Option<&str>, key: &str) -> Result<Found, String> {
        let source = self.source(source)?;
        let values = match &source.secrets {
            KeptSecrets::Here(values) => values,
            KeptSecrets::AtServer(server, wait) => {
                return Ok(Found::Later(self.ask(&source.name, server, key), *wait));
            }
        };
        let Some(value) = values.get(key) else {
            let keys: Vec<_> = values.keys().map(String::as_str).collect();
            return Err(format!(
                "the secret source `{}` has no secret `{key}`; it has: {}",
                source.name,
                keys.join(", ")
            ));
        };
        self.redaction.hide(value);
        Ok(Found::Here(value.clone()))
    }

    fn ask(&self, name: &str, server: &Arc<SecretServer>, key: &str) -> LaterSecret {
        let (server, redaction) = (Arc::clone(server), self.redaction.clone());
        let (name, key) = (name.to_owned(), key.to_owned());
        Box::pin(async move {
            let secret = server.get(&key).await;
            let secret = secret.map_err(|problem| {
                format!("the secret source `{name}` has not given the secret `{key}`: {problem}")
            })?;
            redaction.hide(&secret);
            Ok(secret)
        })
    }

    fn source(&self, name: Option<&str>) -> Result<&SecretSource, String> {
        let name = name.unwrap_or("default");
        let named = self.sources.iter().find(|source| source.name == name);
        let default = || {
            let is_asked_for = name == "default";
            self.sources
                .iter()
                .find(|source| is_asked_for && source.is_default)
        };
        named.or_else(default).ok_or_else(|| {
            let names: Vec<_> = self.sources.iter().map(|source| source.name.as_str()).collect();
            match (names.join(", "), name) {
                (names, _) if names.is_empty() => {
                    "there is no secret source; start the run with one, for example --secret-source \
                     file=secrets.txt"
                        .to_owned()
                }
                (names, "default") => format!(
                    "none of several secret sources is the default ({names}); mark one, for example --secret-source \
                     file=default,filename=secrets.txt, or ask one of them with secrets.source(name)"
                ),
                (names, name) => format!("there is no secret source `{name}`; there are: {names}"),
            }
        })
    }
}

impl Redaction {
    /// Takes this text out of all further ones.
    pub fn hide(&self, secret: &str) {
        let is_known = |known: &[String]| secret.is_empty() || known.iter().any(|known| known == secret);
        if is_known(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !is_known(&known) {
            // The longest first, so that no rest of one stays when another is a part of it.
            let position = known.partition_point(|other| other.len() >= secret.len());
            known.insert(position, secret.to_owned());
        }
    }

    /// Knows no secrets any more.
    pub fn forget(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A text for a log or a summary, without what scripts have read of secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) {
                Cow::Owned(text.replace(secret.as_str(), REDACTED))
            } else {
                text
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, is_default: bool, values: &[(&str, &str)]) -> SecretSource {
        let values = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        SecretSource {
            name: name.to_owned(),
            is_default,
            secrets: KeptSecrets::Here(values.collect()),
        }
    }

    fn secrets(sources: &[SecretSource]) -> Secrets {
        Secrets::new(sources.to_vec(), Redaction::default()).unwrap()
    }

    #[test]
    fn a_secret_is_found_by_its_source_and_key() {
        let mock = source("mock", false, &[("a", "1"), ("b", "2")]);
        let file = source("file", true, &[("a", "3")]);
        let neither = [mock.clone(), source("other", false, &[])];
        let (one, two) = ([mock.clone()], [mock, file]);
        for (sources, name, key, expected) in [
            (&one[..], None, "a", Ok("1")),
            (&one, Some("default"), "b", Ok("2")),
            (&one, Some("mock"), "b", Ok("2")),
            (
                &one,
                None,
                "c",
                Err("the secret source `mock` has no secret `c`; it has: a, b"),
            ),
            (&two, None, "a", Ok("3")),
            (&two, Some("mock"), "a", Ok("1")),
            (
                &two,
                Some("vault"),
                "a",
                Err("there is no secret source `vault`; there are: mock, file"),
            ),
            (
                &neither,
                None,
                "a",
                Err("none of several secret sources is the default (mock, other)"),
            ),
            (
                &[],
                None,
                "a",
                Err("there is no secret source; start the run with one"),
            ),
        ] {
            match (secrets(sources).get(name, key), expected) {
                (Ok(Found::Here(found)), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{found}"),
                (Ok(_), expected) => panic!("a secret instead of {expected:?}"),
                (Err(found), Ok(expected)) => panic!("{found} instead of {expected}"),
            }
        }
    }

    #[test]
    fn sources_must_be_told_apart() {
        let refused =
            |sources: &[SecretSource]| Secrets::new(sources.to_vec(), Redaction::default()).unwrap_err();
        let (one, two) = (source("a", true, &[]), source("b", true, &[]));
        assert_eq!(
            refused(&[one.clone(), two]),
            SecretsError::TwoDefaults("a".to_owned(), "b".to_owned())
        );
        assert_eq!(
            refused(&[one, source("a", false, &[])]),
            SecretsError::SameName("a".to_owned())
        );
    }

    #[test]
    fn what_was_read_is_in_no_text() {
        let values = [
            ("short", "tea"),
            ("long", "teapot"),
            ("empty", ""),
            ("unread", "cup"),
        ];
        let redaction = Redaction::default();
        let secrets = Secrets::new(vec![source("mock", true, &values)], redaction.clone()).unwrap();
        let text = "a teapot, tea and a cup";
        assert_eq!(redaction.redact(text), text);
        for key in ["short", "long", "empty", "short"] {
            secrets.get(None, key).unwrap();
        }
        assert_eq!(
            redaction.redact(text),
            "a ***SECRET_REDACTED***, ***SECRET_REDACTED*** and a cup"
        );
        assert!(!format!("{secrets:?}").contains("tea"), "{secrets:?}");
    }
}
