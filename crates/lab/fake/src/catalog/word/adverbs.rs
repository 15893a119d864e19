//! Adverbs.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("adverb", |generator| adverb(generator).to_owned()),
    word("adverbDegree", OF_DEGREE),
    word("adverbFrequencyDefinite", HOW_OFTEN),
    word("adverbFrequencyIndefinite", ABOUT_HOW_OFTEN),
    word("adverbManner", OF_MANNER),
    text("adverbPhrase", |generator| {
        format!("{} {}", generator.pick(OF_DEGREE), generator.pick(OF_MANNER))
    }),
    word("adverbPlace", OF_PLACE),
    word("adverbTimeDefinite", WHEN),
    word("adverbTimeIndefinite", ABOUT_WHEN),
];

const OF_DEGREE: Words = words(
    "almost, barely, completely, deeply, enormously, entirely, fairly, greatly, hardly, highly, nearly, \
     partly, perfectly, pretty, quite, rather, really, slightly, so, somewhat, terribly, too, very, wholly",
);
const HOW_OFTEN: Words =
    words("annually, daily, hourly, monthly, nightly, quarterly, twice a day, weekly, yearly");
const ABOUT_HOW_OFTEN: Words = words(
    "always, frequently, generally, never, now and then, occasionally, often, rarely, seldom, sometimes, \
     usually",
);
const OF_MANNER: Words = words(
    "badly, boldly, bravely, briskly, calmly, carefully, cheerfully, clearly, cleverly, eagerly, easily, \
     gently, gladly, gracefully, honestly, kindly, loudly, neatly, patiently, politely, quickly, quietly, \
     sadly, silently, slowly, smoothly, softly, warmly, wisely",
);
const OF_PLACE: Words = words(
    "above, abroad, ahead, away, below, downstairs, east, everywhere, here, indoors, nearby, north, \
     outside, south, there, upstairs, west",
);
const WHEN: Words =
    words("at noon, last week, next month, now, then, this morning, today, tomorrow, tonight, yesterday");
const ABOUT_WHEN: Words = words(
    "already, before, earlier, eventually, finally, just, lately, later, recently, since, soon, still, yet",
);

fn adverb(generator: &mut Generator) -> &'static str {
    let kind = generator.one_of(&[
        OF_DEGREE,
        HOW_OFTEN,
        ABOUT_HOW_OFTEN,
        OF_MANNER,
        OF_PLACE,
        WHEN,
        ABOUT_WHEN,
    ]);
    generator.pick(kind)
}
