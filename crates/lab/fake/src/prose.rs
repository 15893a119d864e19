//! Sentences and paragraphs from words.

use crate::{
    arguments::{Arguments, MOST_LETTERS, Refusal},
    generator::Generator,
    parameter::{Kind, Parameter, default},
    value::Value,
    words::Words,
};

/// The parameters of functions that make a sentence.
pub(crate) const OF_SENTENCE: &[Parameter] = &[default("wordcount", Kind::Number, "5")];

/// The parameters of functions that make paragraphs.
pub(crate) const OF_PARAGRAPH: &[Parameter] = &[
    default("paragraphcount", Kind::Number, "2"),
    default("sentencecount", Kind::Number, "2"),
    default("wordcount", Kind::Number, "5"),
    default("paragraphseparator", Kind::Text, "<br />"),
];

/// The most words of a sentence, and the most sentences and paragraphs, as in gofakeit.
const MOST_WORDS: usize = 50;
const MOST_SENTENCES: usize = 20;

/// A text that begins with a capital.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A sentence of this many words, with this at its end.
pub fn sentence(generator: &mut Generator, words: Words, n_words: usize, end: char) -> String {
    let words: Vec<_> = (0..n_words).map(|_| generator.pick(words)).collect();
    format!("{}{end}", capitalized(&words.join(" ")))
}

/// A sentence with the arguments of [`OF_SENTENCE`].
pub(crate) fn sentence_with(
    generator: &mut Generator,
    arguments: &Arguments<'_>,
    words: Words,
) -> Result<Value, Refusal> {
    let n_words = arguments.count(0, 1..=MOST_WORDS)?;
    Ok(sentence(generator, words, n_words, '.').into())
}

/// Paragraphs with the arguments of [`OF_PARAGRAPH`].
pub(crate) fn paragraphs_with(
    generator: &mut Generator,
    arguments: &Arguments<'_>,
    words: Words,
) -> Result<Value, Refusal> {
    let n_paragraphs = arguments.count(0, 1..=MOST_SENTENCES)?;
    let n_sentences = arguments.count(1, 1..=MOST_SENTENCES)?;
    let n_words = arguments.count(2, 1..=MOST_WORDS)?;
    let separator = arguments.text(3, MOST_LETTERS)?;
    let mut paragraph = || {
        let sentences = (0..n_sentences).map(|_| sentence(generator, words, n_words, '.'));
        sentences.collect::<Vec<_>>().join(" ")
    };
    let paragraphs: Vec<_> = (0..n_paragraphs).map(|_| paragraph()).collect();
    Ok(paragraphs.join(separator).into())
}
