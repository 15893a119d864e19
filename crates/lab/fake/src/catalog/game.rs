//! Games.

use super::{animal::ANIMALS, word::DESCRIPTIVE};
use crate::{
    arguments::{Arguments, MOST_ITEMS, Refusal},
    function::{Function, text, with},
    generator::Generator,
    parameter::{Kind, Parameter, default},
    prose::capitalized,
    value::Value,
};

pub(super) const FUNCTIONS: &[Function] = &[
    with("dice", OF_DICE, Kind::Numbers, dice),
    text("gamertag", gamertag),
];

const OF_DICE: &[Parameter] = &[
    default("numdice", Kind::Number, "1"),
    default("sides", Kind::Numbers, "6"),
];

/// One number per die. Dice without a number of sides have that of the first.
fn dice(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let n_dice = arguments.count(0, 0..=MOST_ITEMS)?;
    let sides = arguments.unsigneds(1)?;
    if sides.contains(&0) {
        return Err(arguments.wrong(1, "0", "dice with at least one side"));
    }
    let first = sides.first().copied().unwrap_or(6);
    let of = |die: usize| sides.get(die).copied().unwrap_or(first);
    Ok(Value::list(
        (0..n_dice).map(|die| generator.unsigned(1..=of(die))),
    ))
}

/// The name of a player: `QuietOtter63`.
fn gamertag(generator: &mut Generator) -> String {
    let [first, second] = [DESCRIPTIVE, ANIMALS].map(|words| capitalized(generator.pick(words)));
    let number = if generator.boolean() {
        generator.integer(1..=999).to_string()
    } else {
        String::new()
    };
    format!("{first}{second}{number}")
}
