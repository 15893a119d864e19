//! Texts by pattern, length and choice.

use crate::{
    arguments::{Arguments, MOST_LETTERS, Refusal},
    function::{Function, text, with},
    generator::{DIGITS, Generator, LETTERS, SMALL_LETTERS},
    parameter::{Kind, Parameter, required},
    value::Value,
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("digit", |generator| generator.digits(1)),
    with("digitN", OF_LENGTH, Kind::Text, |generator, arguments| {
        of_length(generator, arguments, DIGITS)
    }),
    text("letter", |generator| generator.characters(LETTERS, 1)),
    with("letterN", OF_LENGTH, Kind::Text, |generator, arguments| {
        of_length(generator, arguments, LETTERS)
    }),
    with("lexify", OF_PATTERN, Kind::Text, |generator, arguments| {
        Ok(generator
            .filled(arguments.text(0, MOST_LETTERS)?, '?', SMALL_LETTERS)
            .into())
    }),
    with("numerify", OF_PATTERN, Kind::Text, |generator, arguments| {
        Ok(generator
            .filled(arguments.text(0, MOST_LETTERS)?, '#', DIGITS)
            .into())
    }),
    with("randomString", OF_TEXTS, Kind::Text, |generator, arguments| {
        let texts = arguments.some_texts(0)?;
        Ok(generator.one_of(&texts).to_owned().into())
    }),
    with("shuffleStrings", OF_TEXTS, Kind::Texts, |generator, arguments| {
        let mut texts = arguments.texts(0)?;
        generator.shuffle(&mut texts);
        Ok(Value::list(texts.into_iter().map(str::to_owned)))
    }),
    text("uuid", uuid),
];

const OF_LENGTH: &[Parameter] = &[required("count", Kind::Number)];
const OF_PATTERN: &[Parameter] = &[required("str", Kind::Text)];
const OF_TEXTS: &[Parameter] = &[required("strs", Kind::Texts)];

/// Characters of an alphabet: one for a length of 0, as in gofakeit.
fn of_length(generator: &mut Generator, arguments: &Arguments<'_>, alphabet: &str) -> Result<Value, Refusal> {
    let n = arguments.count(0, 0..=MOST_LETTERS)?;
    Ok(generator.characters(alphabet, n.max(1)).into())
}

/// A random identifier: version 4 of RFC 9562.
pub fn uuid(generator: &mut Generator) -> String {
    let mut bits = generator.bits();
    bits = bits & !(0xf << 76) | 0x4 << 76;
    bits = bits & !(0x3 << 62) | 0x2 << 62;
    let digits = format!("{bits:032x}");
    let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    format!("{a}-{b}-{c}-{d}-{e}")
}
