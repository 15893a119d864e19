//! Words, sentences and paragraphs.

mod adjectives;
mod adverbs;
mod connectives;
mod nouns;
mod prepositions;
mod pronouns;
mod sentences;
mod verbs;

pub(super) use self::adjectives::DESCRIPTIVE;
pub use self::sentences::WORDS;
use crate::function::Function;
pub use crate::prose::sentence;

pub(super) const TABLES: &[&[Function]] = &[
    adjectives::FUNCTIONS,
    adverbs::FUNCTIONS,
    connectives::FUNCTIONS,
    nouns::FUNCTIONS,
    prepositions::FUNCTIONS,
    pronouns::FUNCTIONS,
    sentences::FUNCTIONS,
    verbs::FUNCTIONS,
];
