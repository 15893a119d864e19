//! Prepositions.

use super::nouns;
use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("preposition", |generator| {
        let kind = generator.one_of(&[SIMPLE, DOUBLE, COMPOUND]);
        generator.pick(kind).to_owned()
    }),
    word("prepositionCompound", COMPOUND),
    word("prepositionDouble", DOUBLE),
    text("prepositionPhrase", phrase),
    word("prepositionSimple", SIMPLE),
];

const SIMPLE: Words = words(
    "about, across, after, against, along, around, at, before, behind, beside, between, beyond, by, during, \
     for, from, in, near, of, off, on, over, past, through, to, under, until, with, without",
);
const DOUBLE: Words =
    words("as for, away from, from above, from behind, from under, into, onto, out of, up to, upon, within");
const COMPOUND: Words = words(
    "according to, ahead of, because of, by means of, in addition to, in front of, in place of, in spite \
     of, instead of, next to, on account of, on top of",
);

pub(super) fn phrase(generator: &mut Generator) -> String {
    format!("{} {}", generator.pick(SIMPLE), nouns::phrase(generator))
}
