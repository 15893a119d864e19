//! Pronouns.

use crate::{
    function::{Function, text, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("pronoun", |generator| {
        let kind = generator.one_of(&[
            DEMONSTRATIVE,
            INDEFINITE,
            INTERROGATIVE,
            OBJECT,
            PERSONAL,
            POSSESSIVE,
            REFLECTIVE,
            RELATIVE,
        ]);
        generator.pick(kind).to_owned()
    }),
    word("pronounDemonstrative", DEMONSTRATIVE),
    word("pronounIndefinite", INDEFINITE),
    word("pronounInterrogative", INTERROGATIVE),
    word("pronounObject", OBJECT),
    word("pronounPersonal", PERSONAL),
    word("pronounPossessive", POSSESSIVE),
    word("pronounReflective", REFLECTIVE),
    word("pronounRelative", RELATIVE),
];

const DEMONSTRATIVE: Words = words("that, these, this, those");
const INDEFINITE: Words = words(
    "all, another, anyone, anything, both, each, everyone, everything, few, many, none, others, several, \
     some, something",
);
const INTERROGATIVE: Words = words("what, where, which, who, whose, why");
const OBJECT: Words = words("her, him, it, me, them, us, you");
const PERSONAL: Words = words("he, I, it, she, they, we, you");
const POSSESSIVE: Words = words("hers, his, mine, ours, theirs, yours");
const REFLECTIVE: Words = words("herself, himself, itself, myself, ourselves, themselves, yourself");
const RELATIVE: Words = words("as, that, what, when, where, which, who, whose");
