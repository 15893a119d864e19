//! The seam to pages: whoever can read HTML implements it, so that this crate needs no parser of it.

use std::{fmt, sync::Arc};

/// What finds elements in pages.
pub trait Selector: fmt::Debug + Send + Sync {
    /// An attribute of one of the elements, or without a name its text; `None` when there is no such thing.
    fn find(&self, page: &str, position: Position, attribute: Option<&str>) -> Option<String>;
}

/// A selector that was read, or for people why it is none.
pub type Loaded = Result<Arc<dyn Selector>, String>;

/// Which of several elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// From 0.
    At(usize),
    /// The last one.
    Last,
    /// Any of them.
    Random,
}

impl Position {
    /// The index among so many; one behind the end is of no element.
    pub fn among(self, n: usize) -> Option<usize> {
        match self {
            Self::At(index) => Some(index),
            Self::Last => n.checked_sub(1),
            Self::Random => (n > 0).then(|| fastrand::usize(..n)),
        }
    }
}
