//! What maps may have in them: tables of keys that readers, error texts, the schemas for editors and the reference pages go
//! by.

use plimsoll_load::parity::Parity;

/// A kind of map, with every allowed key.
#[derive(Debug)]
pub struct Shape {
    /// Its name among the definitions of a schema.
    pub name: &'static str,
    /// What it is, in a sentence for people.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Rules for combinations of keys. Readers have their own error texts; this is for schemas.
    pub rules: &'static [Rule],
}

/// One key of a map.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key as written.
    pub name: &'static str,
    /// The allowed values.
    pub kind: Kind,
    /// What it means, in a sentence for people.
    pub about: &'static str,
    /// Whether it must be there.
    pub is_required: bool,
    /// A key without which this one is meaningless, and refused.
    pub needs: Option<&'static str>,
    /// The comparison with the tool whose files these are.
    pub parity: Parity,
}

/// A rule for combinations of keys.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Exactly one of these is present, and not empty.
    ExactlyOne(&'static [&'static str]),
    /// At least one of these is present.
    AtLeastOne(&'static [&'static str]),
    /// At most one of these is present.
    AtMostOne(&'static [&'static str]),
    /// There may be keys that are not in the table, with these values.
    FreeKeys(&'static Kind),
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Anything.
    Any,
    /// No value: the key is known and refused, for this reason, which says what to do instead.
    Refused(&'static str),
    /// Any value: the key is known and has no effect, for this reason.
    Ignored(&'static str),
    /// A text.
    Text,
    /// A text, or a number or boolean that is used as written.
    Scalar,
    /// A text that matches a regular expression, for schemas.
    Pattern(&'static str),
    /// One of these texts.
    Word(&'static [&'static str]),
    /// True or false.
    Boolean,
    /// A number in this range.
    Number(f64, f64),
    /// A whole number in this range.
    Whole(u64, u64),
    /// One of these.
    Either(&'static [Kind]),
    /// A list of these.
    List(&'static Kind),
    /// A map with arbitrary keys and these values.
    Table(&'static Kind),
    /// A map.
    Map(&'static Shape),
    /// A list of maps.
    Maps(&'static Shape),
    /// A map, or a list of such maps.
    OneOrMore(&'static Shape),
    /// A list of maps and of such lists.
    Nested(&'static Shape),
    /// A map in which one key selects the shape. Without the key, or with another value, it is the first.
    Switch(&'static str, &'static [(&'static str, &'static Shape)]),
    /// A map of this shape if it has this key; otherwise anything.
    Having(&'static str, &'static Shape),
    /// A step: a map with one key, its name; or the name alone for a step without settings.
    Step(&'static Shape),
}

impl Shape {
    /// The names of its keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.keys.iter().map(|key| key.name)
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    /// A key that is known and refused, and why.
    pub(crate) const fn refused(name: &'static str, reason: &'static str) -> Self {
        Self {
            parity: Parity::Absent(reason),
            ..Self::new(name, Kind::Refused(reason), reason)
        }
    }

    /// A key that is known and has no effect, and why.
    pub(crate) const fn ignored(name: &'static str, reason: &'static str) -> Self {
        Self::new(name, Kind::Ignored(reason), reason).differs(reason)
    }

    /// An optional key.
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            is_required: false,
            needs: None,
            parity: Parity::Same,
        }
    }

    /// A key that is known and has no effect, in the tool neither, and why.
    pub(crate) const fn idle(name: &'static str, reason: &'static str) -> Self {
        Self::new(name, Kind::Ignored(reason), reason)
    }

    /// Says how the key differs from the tool's.
    pub(crate) const fn differs(self, how: &'static str) -> Self {
        Self {
            parity: Parity::Differs(how),
            ..self
        }
    }

    /// Says that the tool does not have the key.
    pub(crate) const fn beyond(self) -> Self {
        Self {
            parity: Parity::Beyond(""),
            ..self
        }
    }

    /// Makes the key required.
    pub(crate) const fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// Makes the key meaningless without `other`.
    pub(crate) const fn needs(self, other: &'static str) -> Self {
        Self {
            needs: Some(other),
            ..self
        }
    }
}
