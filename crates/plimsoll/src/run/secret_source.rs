//! The sources of scripts' secrets: `--secret-source`.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use plimsoll_script::{Redaction, SecretSource, Secrets};

use super::mistake::Mistake;
use crate::surroundings::Surroundings;

/// The largest size of a file with secrets. Reason: it holds a thousand certificate keys, but not a log that was
/// named by mistake.
const MAX_FILE_BYTES: usize = 16 << 20;

/// One `--secret-source`. `Debug` output has no secrets.
#[derive(Clone, PartialEq, Eq)]
struct SourceFlag {
    kind: &'static str,
    name: Option<String>,
    is_default: bool,
    content: Content,
}

#[derive(Clone, PartialEq, Eq)]
enum Content {
    /// The secrets themselves, for tests.
    Values(BTreeMap<String, String>),
    /// A file with a line `key=secret` for each.
    File(PathBuf),
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

    /// k6's form: `mock=[default,][name=NAME,]KEY=SECRET,…` and `file=[default,][name=NAME,][filename=]FILE`.
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
            "url" | "cloud" => return Err(format!("secrets from `{kind}` are not supported; {EXPECTED}")),
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

const EXPECTED: &str = "expected mock or file, for example file=secrets.txt";

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

impl SourceFlag {
    /// Reads the source.
    ///
    /// # Errors
    /// For people, with the file and the line, and without any of its text.
    fn read(&self, surroundings: &Surroundings<'_>) -> Result<SecretSource, String> {
        Ok(SecretSource {
            name: self.name.clone().unwrap_or_else(|| self.kind.to_owned()),
            is_default: self.is_default,
            values: match &self.content {
                Content::Values(values) => values.clone(),
                Content::File(path) => {
                    let place = path.display();
                    let text = (surroundings.read_file)(path)
                        .map_err(|error| format!("{place}: cannot be read: {error}"))?;
                    if text.len() > MAX_FILE_BYTES {
                        return Err(format!("{place}: has more than {} MiB", MAX_FILE_BYTES >> 20));
                    }
                    lines(&text).map_err(|line| {
                        format!(
                            "{place}:{line}: expected key=secret, one on each line, for example token=abc"
                        )
                    })?
                }
            },
        })
    }
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
                Some("bad.txt") => Ok("a=alpha\n\nverysecret\n".to_owned()),
                _ => Err(io::Error::from(io::ErrorKind::NotFound)),
            },
        };
        let SecretSource {
            name,
            is_default,
            values,
        } = flag.parse::<SourceFlag>()?.read(&surroundings)?;
        let default = if is_default { " (default)" } else { "" };
        Ok(format!("{name}{default}: {values:?}"))
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
        ] {
            assert_eq!(read(flag), Ok(expected), "{flag}");
        }
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        for (flag, expected) in [
            ("vault=x", "expected mock or file"),
            (
                "url=urlTemplate=http://localhost/{key}",
                "secrets from `url` are not supported",
            ),
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
