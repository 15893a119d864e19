//! The parameters of functions, and the kinds of arguments and results.

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name, as in xk6-faker's documentation.
    pub name: &'static str,
    /// The kind of the argument.
    pub kind: Kind,
    /// Whether a call may leave the argument out.
    pub presence: Presence,
}

/// Whether an argument may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It may not.
    Required,
    /// It may, and nothing stands in its place.
    Optional,
    /// It may, and this text counts.
    Default(&'static str),
}

/// The kind of an argument or of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A truth value.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of numbers.
    Numbers,
    /// An object.
    Object,
}

/// A parameter without a default.
pub(crate) const fn required(name: &'static str, kind: Kind) -> Parameter {
    Parameter {
        name,
        kind,
        presence: Presence::Required,
    }
}

/// A parameter that may be missing.
pub(crate) const fn optional(name: &'static str, kind: Kind) -> Parameter {
    Parameter {
        name,
        kind,
        presence: Presence::Optional,
    }
}

/// A parameter with a default.
pub(crate) const fn default(name: &'static str, kind: Kind, text: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        presence: Presence::Default(text),
    }
}
