//! Colors.

use crate::{
    function::{Function, plain, text, word},
    generator::{Generator, HEX_DIGITS},
    parameter::Kind,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("color", NAMED),
    text("hexColor", hex),
    plain("niceColors", Kind::Texts, nice),
    plain("rgbColor", Kind::Numbers, |generator| {
        Value::list([0; 3].map(|_: i64| generator.integer(0..=255)))
    }),
    word("safeColor", BASIC),
];

/// Colors with everyday names.
pub const BASIC: Words = words("black, blue, brown, green, grey, orange, pink, purple, red, white, yellow");
/// Names of CSS (CSS Color 4, section 6.1).
const NAMED: Words = words(
    "AliceBlue, Aquamarine, Beige, CadetBlue, Coral, Crimson, DarkOrange, DeepPink, FireBrick, Gold, \
     HotPink, Indigo, Ivory, Khaki, Lavender, LightGreen, Linen, Maroon, MidnightBlue, Olive, Orchid, Peru, \
     Plum, RoyalBlue, Salmon, SeaGreen, Sienna, SkyBlue, SlateGray, SteelBlue, Tan, Teal, Thistle, Tomato, \
     Turquoise, Violet, Wheat",
);
/// Parts of palettes, in hexadecimal digits without `#`: light ones, and dark ones.
const LIGHT: Words = words("cfe8ef, d8e2dc, e9edc9, f1e3d3, f4d6cc, f7ede2, faedcd, fde2e4");
const DARK: Words = words("1d3557, 264653, 3d405b, 4a4e69, 5f0f40, 6b705c, 7f5539, 9a031e");

/// Three bytes in hexadecimal: `#a99fb4`.
pub fn hex(generator: &mut Generator) -> String {
    format!("#{}", generator.characters(HEX_DIGITS, 6))
}

/// Five colors, of which three are light and two are dark.
fn nice(generator: &mut Generator) -> Value {
    let mut colors = generator.several(LIGHT, 3);
    colors.extend(generator.several(DARK, 2));
    Value::list(colors.into_iter().map(|digits| format!("#{digits}")))
}
