//! Sentences and paragraphs, and the words of these.

use super::{nouns, verbs::IN_THIRD_PERSON};
use crate::{
    catalog::names,
    function::{Function, text, with, word},
    generator::Generator,
    parameter::Kind,
    prose::{OF_PARAGRAPH, OF_SENTENCE, capitalized, paragraphs_with, sentence, sentence_with},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("comment", EXCLAMATIONS),
    word("interjection", EXCLAMATIONS),
    with(
        "loremIpsumParagraph",
        OF_PARAGRAPH,
        Kind::Text,
        |generator, arguments| paragraphs_with(generator, arguments, LATIN),
    ),
    with(
        "loremIpsumSentence",
        OF_SENTENCE,
        Kind::Text,
        |generator, arguments| sentence_with(generator, arguments, LATIN),
    ),
    word("loremIpsumWord", LATIN),
    with("paragraph", OF_PARAGRAPH, Kind::Text, |generator, arguments| {
        paragraphs_with(generator, arguments, WORDS)
    }),
    word("phrase", PHRASES),
    text("question", |generator| {
        let n_words = generator.size(3..=10);
        sentence(generator, WORDS, n_words, '?')
    }),
    text("quote", quote),
    with("sentence", OF_SENTENCE, Kind::Text, |generator, arguments| {
        sentence_with(generator, arguments, WORDS)
    }),
    text("simpleSentence", simple_sentence),
    word("word", WORDS),
];

/// Everyday words.
pub const WORDS: Words = words(
    "anchor, beacon, bramble, button, cargo, cedar, cliff, copper, delta, ember, fable, field, flint, \
     garnet, harbor, island, juniper, kettle, lantern, maple, meadow, nickel, orchard, pepper, quarry, \
     ribbon, river, saddle, signal, timber, tunnel, valley, velvet, walnut, willow, window, winter, yarrow",
);
/// Words of Cicero's De finibus bonorum et malorum (45 BC), from which typesetters made their filler text.
const LATIN: Words = words(
    "accusantium, aliquam, aperiam, architecto, aspernatur, beatae, consectetur, consequuntur, dicta, \
     dolor, dolore, dolorem, doloremque, ea, enim, eos, error, est, et, eum, explicabo, fugit, illo, \
     incidunt, inventore, ipsa, ipsam, ipsum, iste, labore, laudantium, magnam, magni, modi, natus, nemo, \
     neque, nesciunt, non, numquam, odit, omnis, perspiciatis, porro, quae, quaerat, quasi, quia, quisquam, \
     ratione, rem, sed, sequi, sit, sunt, tempora, totam, ullam, unde, ut, velit, veritatis, vitae, \
     voluptas, voluptatem",
);
const EXCLAMATIONS: Words = words(
    "ah, aha, bravo, cheers, gosh, great, hello, hooray, hush, indeed, nice, oh, oops, ouch, phew, \
     splendid, superb, thanks, well, whoa, wow, yay",
);
const PHRASES: Words = words(
    "a piece of cake, all in good time, as fresh as a daisy, at the drop of a hat, better late than never, \
     by and large, from scratch, in a nutshell, neck and neck, on the same page, once in a blue moon, out \
     of the blue, over the moon, so far so good, the more the merrier, under the weather, up in the air, \
     without a hitch",
);

fn quote(generator: &mut Generator) -> String {
    let n_words = generator.size(3..=10);
    let sentence = sentence(generator, WORDS, n_words, '.');
    format!("\"{sentence}\" - {}", names::full_name(generator))
}

/// A subject, a verb and an object.
fn simple_sentence(generator: &mut Generator) -> String {
    let (subject, verb) = (nouns::phrase(generator), generator.pick(IN_THIRD_PERSON));
    let object = nouns::phrase(generator);
    format!("{} {verb} {object}.", capitalized(&subject))
}
