//! Nouns.

use super::adjectives::DESCRIPTIVE;
use crate::{
    catalog::{address, names},
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("noun", |generator| noun(generator).to_owned()),
    word("nounAbstract", ABSTRACT),
    word("nounCollectiveAnimal", OF_ANIMALS),
    word("nounCollectivePeople", OF_PEOPLE),
    word("nounCollectiveThing", OF_THINGS),
    word("nounCommon", COMMON),
    word("nounConcrete", CONCRETE),
    word("nounCountable", COUNTABLE),
    word("nounDeterminer", DETERMINERS),
    text("nounPhrase", phrase),
    text("nounProper", |generator| {
        let kind = generator.one_of(&[address::CITIES, names::FIRST_NAMES]);
        generator.pick(kind).to_owned()
    }),
    word("nounUncountable", UNCOUNTABLE),
];

const ABSTRACT: Words = words(
    "anger, beauty, belief, charity, comfort, courage, curiosity, delight, doubt, envy, faith, fear, \
     freedom, grief, honesty, hope, joy, justice, knowledge, loyalty, luck, mercy, patience, peace, pride, \
     surprise, trust, wisdom, wonder",
);
const OF_ANIMALS: Words = words(
    "brood, colony, drove, flock, gaggle, herd, hive, litter, murmuration, pack, pod, pride, school, shoal, \
     swarm",
);
const OF_PEOPLE: Words = words(
    "army, audience, band, board, choir, class, committee, company, congregation, crew, crowd, family, \
     jury, orchestra, panel, staff, team, troupe",
);
const OF_THINGS: Words = words(
    "album, anthology, batch, bouquet, bundle, bunch, chain, cluster, collection, deck, fleet, galaxy, \
     heap, pile, range, set, stack, string, wad",
);
const COMMON: Words = words(
    "area, body, book, business, case, child, city, company, country, day, door, face, fact, game, group, \
     hand, head, home, house, idea, job, kind, life, line, member, month, moment, name, night, number, \
     office, part, person, place, point, problem, question, reason, room, school, side, story, street, \
     study, system, thing, time, village, water, way, week, word, work, world, year",
);
const CONCRETE: Words = words(
    "apple, barrel, bell, boat, bridge, bucket, candle, carpet, chair, clock, coat, drum, fence, hammer, \
     hat, kettle, ladder, lamp, leaf, mirror, needle, oar, pebble, pencil, pillow, rope, shovel, spoon, \
     stone, table, tent, umbrella, violin, wheel, window",
);
const COUNTABLE: Words = words(
    "answer, bottle, coin, cup, dream, envelope, friend, garden, journey, key, letter, map, neighbor, \
     orange, page, road, shoe, song, ticket, tree",
);
const DETERMINERS: Words = words("a, every, her, his, its, my, our, that, the, their, this, your");
const UNCOUNTABLE: Words = words(
    "advice, air, baggage, bread, butter, equipment, flour, furniture, grass, honey, information, luggage, \
     milk, music, rain, rice, sand, snow, sugar, traffic, weather, wood",
);

fn noun(generator: &mut Generator) -> &'static str {
    let kind = generator.one_of(&[
        ABSTRACT,
        OF_ANIMALS,
        OF_PEOPLE,
        OF_THINGS,
        COMMON,
        CONCRETE,
        COUNTABLE,
        UNCOUNTABLE,
    ]);
    generator.pick(kind)
}

/// A determiner and a thing: `the narrow bridge`.
pub(super) fn phrase(generator: &mut Generator) -> String {
    let (quality, thing) = (generator.pick(DESCRIPTIVE), generator.pick(CONCRETE));
    let determiner = match generator.pick(DETERMINERS) {
        "a" if quality.starts_with(['a', 'e', 'i', 'o']) => "an",
        "a" if quality == "honest" => "an",
        other => other,
    };
    format!("{determiner} {quality} {thing}")
}
