//! Beers.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("beerAlcohol", |generator| {
        format!("{}%", tenths(generator, 20, 100))
    }),
    text("beerBlg", |generator| {
        format!("{}°Blg", tenths(generator, 50, 200))
    }),
    word("beerHop", HOPS),
    text("beerIbu", |generator| {
        format!("{} IBU", generator.integer(10..=100))
    }),
    word("beerMalt", MALTS),
    word("beerName", NAMES),
    word("beerStyle", STYLES),
    word("beerYeast", YEASTS),
];

const HOPS: Words = words(
    "Amarillo, Cascade, Centennial, Challenger, Chinook, Citra, East Kent Golding, Fuggle, Galaxy, \
     Hallertau, Magnum, Mosaic, Nelson Sauvin, Perle, Saaz, Simcoe, Sorachi Ace, Spalt, Tettnang",
);
const MALTS: Words = words(
    "Amber, Black, Brown, Cara, Chocolate, Crystal, Melanoidin, Munich, Pale, Peated, Pilsner, Rye, Smoked, \
     Vienna, Wheat",
);
const NAMES: Words = words(
    "Anchor Watch, Barn Owl Bitter, Copper Kettle, Cellar Door, Fog Horn, Ferryman, Harbor Light, Hay Loft, \
     Iron Bridge, Long Meadow, Miller's Rest, Night Shift, Old Lantern, Red Barrel, River Bend, Stone \
     Circle, Tall Ship, Winter Wheat",
);
const STYLES: Words = words(
    "Altbier, Barley Wine, Belgian Dubbel, Bitter, Bock, Brown Ale, Dunkel, Gose, Helles, India Pale Ale, \
     Lambic, Mild, Pale Ale, Pilsner, Porter, Rauchbier, Saison, Stout, Tripel, Wheat Beer",
);
const YEASTS: Words = words(
    "American Ale, American Lager, Bavarian Wheat, Belgian Abbey, Belgian Saison, Bohemian Lager, Czech \
     Pils, English Ale, German Ale, Irish Ale, Kolsch, Kveik, London Ale, Munich Lager, Scottish Ale",
);

/// A number with one digit after the point, from its tenths.
fn tenths(generator: &mut Generator, min: i64, max: i64) -> String {
    let tenths = generator.integer(min..=max);
    format!("{}.{}", tenths / 10, tenths % 10)
}
