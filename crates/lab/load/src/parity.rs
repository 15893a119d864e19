//! The comparison of a name with the tool that it comes from: a function, an option, a key or a flag.
//!
//! Tables of names say with it what is the same and what is not; the reference pages are written from these tables.

/// The comparison of a name with the tool that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// It means the same.
    Same,
    /// It means something else, with the difference.
    Differs(&'static str),
    /// The tool has it and this program does not, with the reason or an alternative. Its use stops the run, and the error has
    /// these words.
    Absent(&'static str),
    /// This program has it and the tool does not, with its meaning.
    Beyond(&'static str),
}

impl Parity {
    /// The comparison in words, for a page about `tool`.
    pub fn described(self, tool: &str) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Differs(how) => format!("differs: {how}"),
            Self::Absent(why) => format!("absent: {why}"),
            Self::Beyond("") => format!("not in {tool}"),
            Self::Beyond(what) => format!("not in {tool}: {what}"),
        }
    }
}
