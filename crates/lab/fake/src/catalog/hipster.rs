//! Fashionable words.

use crate::{
    function::{Function, with, word},
    parameter::Kind,
    prose::{OF_PARAGRAPH, OF_SENTENCE, paragraphs_with, sentence_with},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    with(
        "hipsterParagraph",
        OF_PARAGRAPH,
        Kind::Text,
        |generator, arguments| paragraphs_with(generator, arguments, WORDS),
    ),
    with(
        "hipsterSentence",
        OF_SENTENCE,
        Kind::Text,
        |generator, arguments| sentence_with(generator, arguments, WORDS),
    ),
    word("hipsterWord", WORDS),
];

const WORDS: Words = words(
    "allotment, artisanal, barista, bicycle, botanical, brunch, cardigan, cassette, ceramics, cold brew, \
     composting, corduroy, crochet, espresso, fermented, flat white, handmade, heritage, houseplant, \
     linocut, locally, loft, macrame, matcha, minimal, oat milk, polaroid, record shop, sourdough, \
     succulent, suspenders, thrift, tote bag, typewriter, upcycled, vegan, vintage, vinyl",
);
