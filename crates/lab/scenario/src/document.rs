//! YAML and JSON documents in which every value knows its position.
//!
//! [`Document::read`] makes the tree; [`Part`] and [`Fields`] read it and gather all mistakes, so that people get all
//! mistakes of a file at once, each with its line, its column and its path of keys. JSON is read as YAML, of which it
//! is a subset. The cost of a hostile file is bounded: see [`Limit`].

use std::{cell::RefCell, collections::BTreeMap};

mod fields;
mod map;
mod mistake;
mod node;
mod overlay;
mod parse;
mod part;
mod place;
mod scalar;
mod shape;

pub use self::{
    fields::Fields,
    mistake::{Mistake, Mistakes},
    node::{Entry, Node, Value},
    overlay::Lists,
    parse::Limit,
    part::Part,
    place::Place,
    shape::{Key, Kind, Rule, Shape},
};

/// One document, and its mistakes so far.
#[derive(Debug)]
pub struct Document {
    /// The files that it is made of, as people named them; at least one.
    names: Vec<String>,
    root: Node,
    /// Tags that no reader has accepted yet, by the positions of their values.
    tags: RefCell<BTreeMap<Place, String>>,
    mistakes: RefCell<Vec<Mistake>>,
}

impl Document {
    /// Parses `text`; an empty one is null. `name` is the file's, for error texts.
    ///
    /// A duplicate key or an unknown tag is not an error yet: such mistakes are reported by [`Self::finish`].
    ///
    /// # Errors
    /// The text is not YAML, or exceeds a [`Limit`].
    pub fn read(name: &str, text: &str) -> Result<Self, Mistakes> {
        let (mut tags, mut mistakes) = (BTreeMap::new(), Vec::new());
        match parse::parse(text, &mut tags, &mut mistakes) {
            Ok(root) => Ok(Self {
                names: vec![name.to_owned()],
                root,
                tags: RefCell::new(tags),
                mistakes: RefCell::new(mistakes),
            }),
            Err(mistake) => {
                mistakes.push(mistake);
                Err(Mistakes::new(name, mistakes))
            }
        }
    }

    /// The whole document, for reading.
    pub fn root(&self) -> Part<'_> {
        Part::root(self)
    }

    /// The first file, as people named it.
    pub fn name(&self) -> &str {
        &self.names[0]
    }

    /// The file of a place, as people named it.
    pub fn file(&self, place: Place) -> &str {
        self.names.get(place.file).map_or("", String::as_str)
    }

    /// # Errors
    /// All mistakes of the document, in the order of their positions.
    pub fn finish(&self) -> Result<(), Mistakes> {
        let mut mistakes = self.mistakes.take();
        let tags = self.tags.take().into_iter();
        mistakes.extend(tags.map(|(place, tag)| Mistake {
            place,
            path: String::new(),
            problem: format!("the tag `!{tag}` is not known here; write the value without it"),
        }));
        match mistakes.as_slice() {
            [] => Ok(()),
            _ => Err(Mistakes::of_files(&self.names, mistakes)),
        }
    }

    fn add(&self, mistake: Mistake) {
        self.mistakes.borrow_mut().push(mistake);
    }
}

#[cfg(test)]
mod tests;
