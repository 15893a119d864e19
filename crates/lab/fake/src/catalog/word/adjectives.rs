//! Adjectives.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("adjective", |generator| adjective(generator).to_owned()),
    word("demonstrativeAdjective", DEMONSTRATIVE),
    word("descriptiveAdjective", DESCRIPTIVE),
    word("indefiniteAdjective", INDEFINITE),
    word("interrogativeAdjective", INTERROGATIVE),
    word("possessiveAdjective", POSSESSIVE),
    word("properAdjective", PROPER),
    word("quantitativeAdjective", QUANTITATIVE),
];

const DEMONSTRATIVE: Words = words("that, these, this, those");
/// Qualities.
pub(in crate::catalog) const DESCRIPTIVE: Words = words(
    "ancient, bitter, bold, brisk, calm, clever, damp, dusty, eager, faint, gentle, gloomy, hollow, honest, \
     humble, icy, jolly, keen, lively, lofty, mellow, modest, narrow, nimble, pale, patient, plain, polite, \
     quiet, rapid, restless, rough, rusty, shy, silent, smooth, solid, steep, stern, sturdy, tidy, vivid, \
     warm, wild, witty",
);
const INDEFINITE: Words =
    words("all, another, any, both, each, either, every, few, many, most, neither, no, other, several, some");
const INTERROGATIVE: Words = words("what, which, whose");
const POSSESSIVE: Words = words("her, his, its, my, our, their, your");
const PROPER: Words = words(
    "Alpine, Arctic, Belgian, Brazilian, Celtic, Chilean, Danish, Dutch, Egyptian, Finnish, Gothic, Indian, \
     Irish, Japanese, Kenyan, Korean, Mexican, Moroccan, Nordic, Peruvian, Polish, Roman, Swiss, Turkish, \
     Victorian, Welsh",
);
const QUANTITATIVE: Words = words(
    "abundant, ample, countless, double, eleven, enough, four, half, heaps of, little, nine, numerous, \
     plenty of, scarce, single, ten, twelve, whole",
);

fn adjective(generator: &mut Generator) -> &'static str {
    let kind = generator.one_of(&[
        DEMONSTRATIVE,
        DESCRIPTIVE,
        INDEFINITE,
        INTERROGATIVE,
        POSSESSIVE,
        PROPER,
        QUANTITATIVE,
    ]);
    generator.pick(kind)
}
