//! What is wrong with a document, for people.

use std::fmt;

use super::Place;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// The keys that lead there: `scenarios[0].flow[2].send`; empty for the document itself.
    pub path: String,
    /// The mistake, the expected value, and what to do.
    pub problem: String,
}

/// All mistakes of one document, at least one. The text has a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The files of the document; places name one by its position.
    files: Vec<String>,
    list: Vec<Mistake>,
}

/// The most mistakes shown. A person does not fix more at a time.
const MOST_SHOWN: usize = 100;

impl Mistakes {
    /// The mistakes of a file, in the order of their positions.
    pub(crate) fn new(file: &str, list: Vec<Mistake>) -> Self {
        Self::of_files(&[file.to_owned()], list)
    }

    /// The mistakes of a document that was made of these files, in the order of their positions.
    pub(super) fn of_files(files: &[String], mut list: Vec<Mistake>) -> Self {
        list.sort_by_key(|mistake| mistake.place);
        Self {
            files: files.to_owned(),
            list,
        }
    }

    /// The file of a place, as people named it.
    pub fn file(&self, place: Place) -> &str {
        self.files.get(place.file).map_or("", String::as_str)
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.list.iter()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, mistake) in self.list.iter().take(MOST_SHOWN).enumerate() {
            let Mistake { place, path, problem } = mistake;
            let line_end = if position == 0 { "" } else { "\n" };
            let colon = if path.is_empty() { "" } else { ": " };
            write!(
                f,
                "{line_end}{}:{place}: {path}{colon}{problem}",
                self.file(*place)
            )?;
        }
        match self.list.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            n_more => write!(f, "\n{}: and {n_more} more", self.files[0]),
        }
    }
}

impl std::error::Error for Mistakes {}
