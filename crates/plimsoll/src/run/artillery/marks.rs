//! `--name`, `--tags` and `--note`: how a run is called and kept.

use plimsoll_history::check_tag;

use super::options::Options;
use crate::{exit::Failure, runs::Marks};

/// Artillery's limit.
const MOST_TAGS: usize = 10;

/// The tag that names a run.
const NAME: &str = "name";

/// The name of a run, its marks in the history, and warnings about tags that are left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marking {
    pub(super) name: String,
    pub(super) marks: Marks,
    pub(super) warnings: Vec<String>,
}

impl Marking {
    /// Reads the flags.
    ///
    /// # Errors
    /// Too many tags.
    pub(super) fn of(options: &Options) -> Result<Self, Failure> {
        let flags = &options.marks;
        let (mut name, mut tags, mut warnings) = (None, Vec::new(), Vec::new());
        let written = flags.tags.as_deref().unwrap_or_default();
        let written: Vec<_> = written
            .split(',')
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .collect();
        if written.len() > MOST_TAGS {
            return Err(Failure::Usage(format!(
                "--tags has {} tags; expected at most {MOST_TAGS}",
                written.len()
            )));
        }
        for tag in written {
            match tag.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
                Some((NAME, value)) if !value.contains(':') => name = Some(value.to_owned()),
                Some((key, value)) if !value.contains(':') => {
                    // A colon is not a character of tags.
                    let kept = format!("{key}/{value}");
                    match check_tag(&kept) {
                        Ok(()) => tags.push(kept),
                        Err(error) => warnings.push(format!("--tags {tag}: left out: {error}")),
                    }
                }
                _ => warnings.push(format!(
                    "--tags {tag}: left out: expected key:value, for example team:chat"
                )),
            }
        }
        let file = || options.first_file().display().to_string();
        Ok(Self {
            name: flags.name.clone().or(name).unwrap_or_else(file),
            marks: Marks {
                tags,
                note: flags.note.clone().filter(|note| !note.is_empty()),
            },
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn marking(arguments: &[&str]) -> Result<Marking, String> {
        let options = Options::parse_from(["a.yml"].iter().chain(arguments));
        Marking::of(&options).map_err(|failure| failure.message())
    }

    #[test]
    fn flags_mark_a_run() {
        let check = |arguments: &[&str], name: &str, tags: &[&str], note: Option<&str>| {
            let expected = Marking {
                name: name.to_owned(),
                marks: Marks {
                    tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
                    note: note.map(str::to_owned),
                },
                warnings: Vec::new(),
            };
            assert_eq!(marking(arguments), Ok(expected), "{arguments:?}");
        };
        check(&[], "a.yml", &[], None);
        check(&["--name", "n", "--note", "hello"], "n", &[], Some("hello"));
        check(
            &["--tags", "team:sqa, build : 7"],
            "a.yml",
            &["team/sqa", "build/7"],
            None,
        );
        check(&["--tags", "name:x,a:b"], "x", &["a/b"], None);
        check(&["--tags", "name:x", "--name", "n"], "n", &[], None);
    }

    #[test]
    fn bad_tags_are_named() {
        let found = marking(&["--tags", "alone,at:http://h,a b:c,d:e"]).unwrap();
        assert_eq!(found.marks.tags, ["d/e"]);
        assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
        assert!(found.warnings[0].starts_with("--tags alone: left out: expected key:value"));
        assert_eq!(
            marking(&["--tags", "a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1"]),
            Err("--tags has 11 tags; expected at most 10".to_owned())
        );
    }
}
