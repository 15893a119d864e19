//! The sources of scripts' secrets: `--secret-source`.

mod packed;
mod server;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    thread,
};

use plimsoll_script::{KeptSecrets, LaterSecret, Redaction, SecretServer, SecretSource, Secrets};

pub(crate) use self::packed::PackedSecrets;
use self::server::Settings;
use super::mistake::Mistake;
use crate::surroundings::Surroundings;

/// The largest size of a file with secrets. Reason: it holds a thousand certificate keys, but not a log that was
/// named by mistake.
const MAX_FILE_BYTES: usize = 16 << 20;

/// One `--secret-source`. `Debug` output has no secrets.
struct SourceFlag {
    kind: &'static str,
    name: Option<String>,
    is_default: bool,
    content: Content,
}

enum Content {
    /// The secrets themselves, for tests.
    Values(BTreeMap<String, String>),
    /// A file with a line `key=secret` for each.
    File(PathBuf),
    /// A server, as the flag describes it, and the file with the rest of its description.
    Server(Box<Settings>, Option<PathBuf>),
}

impl fmt::Debug for SourceFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFlag")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl FromStr for SourceFlag {
    type Err = String;

    /// k6's form: `mock=[default,][name=NAME,]KEY=SECRET,…` and `file=[default,][name=NAME,][filename=]FILE`, and
    /// `url=[default,][name=NAME,][config=FILE,]urlTemplate=URL,…`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, config) = text.split_once('=').unwrap_or((text, ""));
        let parts = config.split(',').filter(|part| !part.is_empty());
        let is_default = parts.clone().any(|part| part == "default");
        let pairs = parts
            .filter(|part| *part != "default")
            .map(|part| part.split_once('=').ok_or(part));
        let pairs: Vec<_> = pairs.collect();
        let name = pairs.iter().find_map(|pair| match pair {
            Ok(("name", name)) => Some((*name).to_owned()),
            _ => None,
        });
        let rest = pairs.into_iter().filter(|pair| !matches!(pair, Ok(("name", _))));
        let (kind, content) = match kind {
            "mock" => ("mock", mock(rest)?),
            "file" => ("file", file(rest)?),
            "url" => ("url", server(rest)?),
            "cloud" => return Err(format!("secrets from `{kind}` are not supported; {EXPECTED}")),
            _ => return Err(EXPECTED.to_owned()),
        };
        Ok(Self {
            kind,
            name,
            is_default,
            content,
        })
    }
}

const EXPECTED: &str = "expected mock, file or url, for example file=secrets.txt";

/// A part of the source: key and value, or the text without a `=`.
type Pair<'t> = Result<(&'t str, &'t str), &'t str>;

fn mock<'t>(pairs: impl Iterator<Item = Pair<'t>>) -> Result<Content, String> {
    let own = |pair: Pair<'t>| {
        let (key, secret) =
            pair.map_err(|_| "expected key=secret, for example mock=token=abc,password=xyz")?;
        Ok((key.to_owned(), secret.to_owned()))
    };
    pairs.map(own).collect::<Result<_, String>>().map(Content::Values)
}

fn file<'t>(pairs: impl Iterator<Item = Pair<'t>>) -> Result<Content, String> {
    const FILE: &str =
        "expected one file, for example file=secrets.txt or file=name=staging,filename=secrets.txt";
    let mut paths = pairs.map(|pair| match pair {
        Ok(("filename", path)) | Err(path) => Ok(PathBuf::from(path)),
        Ok((key, _)) => Err(format!("a file has no `{key}`; {FILE}")),
    });
    match (paths.next().transpose()?, paths.next()) {
        (Some(path), None) => Ok(Content::File(path)),
        _ => Err(FILE.to_owned()),
    }
}

fn server<'t>(pairs: impl Iterator<Item = Pair<'t>>) -> Result<Content, String> {
    let mut settings = Settings::default();
    let mut file = None;
    for pair in pairs {
        let (key, value) = pair.map_err(|_| {
            "expected key=value, for example url=urlTemplate=https://vault.example/secrets/{key},timeout=10s"
        })?;
        match key {
            "config" => file = Some(PathBuf::from(value)),
            _ => settings.set(key, value)?,
        }
    }
    Ok(Content::Server(Box::new(settings), file))
}

impl SourceFlag {
    /// Reads the source.
    ///
    /// # Errors
    /// For people, with the file and the line, and without any of its text.
    fn read(&self, surroundings: &Surroundings<'_>) -> Result<SecretSource, String> {
        Ok(SecretSource {
            name: self.name.clone().unwrap_or_else(|| self.kind.to_owned()),
            is_default: self.is_default,
            secrets: match &self.content {
                Content::Values(values) => KeptSecrets::Here(values.clone()),
                Content::File(path) => {
                    let place = path.display();
                    KeptSecrets::Here(lines(&text_of(path, surroundings)?).map_err(|line| {
                        format!(
                            "{place}:{line}: expected key=secret, one on each line, for example token=abc"
                        )
                    })?)
                }
                Content::Server(flag, file) => {
                    let file = file.as_deref().map(|path| {
                        let text = text_of(path, surroundings)?;
                        Settings::from_json(&text).map_err(|error| format!("{}: {error}", path.display()))
                    });
                    let settings = Settings::from_variables(surroundings)?
                        .under(file.transpose()?.unwrap_or_default())
                        .under((**flag).clone())
                        .checked()?;
                    let proxies = surroundings.proxies().map_err(|error| error.to_string())?;
                    KeptSecrets::AtServer(Arc::new(SecretServer::new(settings, proxies)?), wait)
                }
            },
        })
    }
}

/// Waits on a thread of its own, because the script's may belong to a runtime.
fn wait(secret: LaterSecret) -> Result<String, String> {
    let waiting = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(secret)
    };
    let waited = thread::scope(|scope| scope.spawn(waiting).join());
    waited.unwrap_or_else(|_| Err("the wait for it has failed".to_owned()))
}

fn text_of(path: &Path, surroundings: &Surroundings<'_>) -> Result<String, String> {
    let place = path.display();
    let text = (surroundings.read_file)(path).map_err(|error| format!("{place}: cannot be read: {error}"))?;
    if text.len() > MAX_FILE_BYTES {
        return Err(format!("{place}: has more than {} MiB", MAX_FILE_BYTES >> 20));
    }
    Ok(text)
}

/// The secrets of all these flags. `redaction` hides every secret that scripts read from then on.
///
/// # Errors
/// For people: a flag or a file that is not a source, or sources that cannot stand beside each other.
pub(super) fn read(
    flags: &[String],
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<Secrets, Mistake> {
    let mistake = |problem| Mistake::new("--secret-source", problem);
    let sources = flags
        .iter()
        .map(|flag| flag.parse::<SourceFlag>()?.read(surroundings));
    let sources = sources.collect::<Result<_, _>>().map_err(mistake)?;
    Secrets::new(sources, redaction.clone()).map_err(|error| mistake(error.to_string()))
}

/// The secrets of a file, or the number (from 1) of the first line without a secret. Empty lines are skipped.
fn lines(text: &str) -> Result<BTreeMap<String, String>, usize> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    let pair = |(index, line): (usize, &str)| {
        let (key, secret) = line.split_once('=').ok_or(index + 1)?;
        Ok((key.to_owned(), secret.to_owned()))
    };
    lines.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn read(flag: &str) -> Result<String, String> {
        let surroundings = Surroundings {
            environment: Vec::new(),
            read_file: &|path| match path.to_str() {
                Some("secrets.txt") => Ok("a=alpha\r\n\nb = with=equals \nempty=\n".to_owned()),
                Some("vault.json") => Ok(r#"{"urlTemplate": "https://vault.example/{key}"}"#.to_owned()),
                Some("bad.txt") => Ok("a=alpha\n\nverysecret\n".to_owned()),
                _ => Err(io::Error::from(io::ErrorKind::NotFound)),
            },
        };
        let SecretSource {
            name,
            is_default,
            secrets,
        } = flag.parse::<SourceFlag>()?.read(&surroundings)?;
        let default = if is_default { " (default)" } else { "" };
        let secrets = match secrets {
            KeptSecrets::Here(values) => format!("{values:?}"),
            KeptSecrets::AtServer(server, _) => format!("{server:?}"),
        };
        Ok(format!("{name}{default}: {secrets}"))
    }

    #[test]
    fn sources_read_as_in_k6() {
        const FILE: &str = r#"{"a": "alpha", "b ": " with=equals ", "empty": ""}"#;
        for (flag, expected) in [
            ("mock=a=1,b=x=y", r#"mock: {"a": "1", "b": "x=y"}"#.to_owned()),
            (
                "mock=default,name=m,a=1,a=2",
                r#"m (default): {"a": "2"}"#.to_owned(),
            ),
            ("mock=", "mock: {}".to_owned()),
            ("file=secrets.txt", format!("file: {FILE}")),
            ("file=name=f,secrets.txt,default", format!("f (default): {FILE}")),
            ("file=filename=secrets.txt,name=f", format!("f: {FILE}")),
            (
                "url=urlTemplate=http://localhost/{key}",
                "url: SecretServer".to_owned(),
            ),
            (
                "url=default,name=vault,config=vault.json",
                "vault (default): SecretServer".to_owned(),
            ),
        ] {
            assert_eq!(read(flag), Ok(expected), "{flag}");
        }
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        for (flag, expected) in [
            ("vault=x", "expected mock, file or url"),
            ("cloud", "secrets from `cloud` are not supported"),
            ("url", "urlTemplate is missing"),
            ("url=verysecret", "expected key=value"),
            ("url=urlTemplate=http://localhost/", "urlTemplate has no {key}"),
            ("url=config=bad.txt", "bad.txt: "),
            ("url=config=nope.txt", "nope.txt: cannot be read"),
            ("mock=verysecret", "expected key=secret"),
            ("file=", "expected one file"),
            ("file=a,b", "expected one file"),
            ("file=foo=verysecret,filename=a", "a file has no `foo`"),
            ("file=nope.txt", "nope.txt: cannot be read"),
            ("file=bad.txt", "bad.txt:3: expected key=secret"),
        ] {
            let found = read(flag).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
            assert!(!found.contains("verysecret"), "{found}");
        }
        let flag: SourceFlag = "mock=a=verysecret".parse().unwrap();
        assert!(!format!("{flag:?}").contains("verysecret"), "{flag:?}");
    }
}
