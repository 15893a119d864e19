//! What maps may have in them: tables of keys that readers, error texts and the schemas for editors go by.

/// A kind of map, with every key that it may have.
#[derive(Debug)]
pub struct Shape {
    /// Its name among the definitions of a schema.
    pub name: &'static str,
    /// What it is, in a sentence for people.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Which of them go together. Readers say so in words of their own; this is for schemas.
    pub rules: &'static [Rule],
}

/// One key of a map.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What may stand behind it.
    pub kind: Kind,
    /// What it means, in a sentence for people.
    pub about: &'static str,
    /// Whether it must be there.
    pub is_required: bool,
    /// A key without which this one means nothing, and is refused.
    pub needs: Option<&'static str>,
}

/// How keys of one map go together.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One of these is there, and no other. None of them may be empty.
    ExactlyOne(&'static [&'static str]),
    /// At least one of these is there.
    AtLeastOne(&'static [&'static str]),
    /// At most one of these is there.
    AtMostOne(&'static [&'static str]),
    /// There may be keys that are not in the table, with these values.
    FreeKeys(&'static Kind),
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Anything.
    Any,
    /// Nothing: the key is known and has no place here, for this reason, which says what to do instead.
    Refused(&'static str),
    /// Anything: the key is known and has no effect, for this reason.
    Ignored(&'static str),
    /// A text.
    Text,
    /// A text, or a number or boolean that is taken as it is written.
    Scalar,
    /// A text that a regular expression describes, for schemas.
    Pattern(&'static str),
    /// One of these texts.
    Word(&'static [&'static str]),
    /// True or false.
    Boolean,
    /// A number from the first to the second.
    Number(f64, f64),
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// One of these.
    Either(&'static [Kind]),
    /// A list of these.
    List(&'static Kind),
    /// A map whose keys are free, with these values.
    Table(&'static Kind),
    /// A map.
    Map(&'static Shape),
    /// A list of maps.
    Maps(&'static Shape),
    /// A map, or a list of such maps.
    OneOrMore(&'static Shape),
    /// A list of maps and of such lists.
    Nested(&'static Shape),
    /// A map of which one key says what kind of map it is; without the key, or with another value, it is the first.
    Switch(&'static str, &'static [(&'static str, &'static Shape)]),
    /// A map of this kind when it has this key; otherwise anything.
    Having(&'static str, &'static Shape),
    /// A step: a map with one key, which is its name; the name alone where nothing has to be said about the step.
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
    /// A key that is known and has no place here, and why.
    pub(crate) const fn refused(name: &'static str, reason: &'static str) -> Self {
        Self::new(name, Kind::Refused(reason), reason)
    }

    /// A key that is known and has no effect, and why.
    pub(crate) const fn ignored(name: &'static str, reason: &'static str) -> Self {
        Self::new(name, Kind::Ignored(reason), reason)
    }

    /// A key that may be left out.
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            is_required: false,
            needs: None,
        }
    }

    /// The same key where it must be there.
    pub(crate) const fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// The same key where it means nothing without `other`.
    pub(crate) const fn needs(self, other: &'static str) -> Self {
        Self {
            needs: Some(other),
            ..self
        }
    }
}
