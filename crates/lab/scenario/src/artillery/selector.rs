//! The seam to pages. A crate with an HTML parser implements it, so that this crate needs none.

use std::{fmt, sync::Arc};

/// What finds elements in pages.
pub trait Selector: fmt::Debug + Send + Sync {
    /// An attribute of one of the elements, or without a name its text. `None` if it does not exist.
    fn find(&self, page: &str, position: Position, attribute: Option<&str>) -> Option<String>;
}

/// A parsed selector, or the reason for people why it is invalid.
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
    /// The index among this many elements. `None` beyond the end.
    pub fn among(self, n: usize) -> Option<usize> {
        match self {
            Self::At(index) => Some(index),
            Self::Last => n.checked_sub(1),
            Self::Random => (n > 0).then(|| fastrand::usize(..n)),
        }
    }
}
