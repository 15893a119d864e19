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

/// All mistakes of one file, at least one. The text has a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    file: String,
    list: Vec<Mistake>,
}

/// The most mistakes shown. A person does not fix more at a time.
const MOST_SHOWN: usize = 100;

impl Mistakes {
    /// The mistakes of a file, in the order of their positions.
    pub(crate) fn new(file: &str, mut list: Vec<Mistake>) -> Self {
        list.sort_by_key(|mistake| mistake.place);
        Self {
            file: file.to_owned(),
            list,
        }
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
            write!(f, "{line_end}{}:{place}: {path}{colon}{problem}", self.file)?;
        }
        match self.list.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            n_more => write!(f, "\n{}: and {n_more} more", self.file),
        }
    }
}

impl std::error::Error for Mistakes {}
