//! Verbs.

use super::nouns;
use crate::{
    function::{Function, text, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("actionVerb", ACTIONS),
    word("helpingVerb", HELPING),
    word("intransitiveVerb", INTRANSITIVE),
    word("linkingVerb", LINKING),
    word("transitiveVerb", TRANSITIVE),
    text("verb", |generator| {
        let kind = generator.one_of(&[ACTIONS, HELPING, LINKING]);
        generator.pick(kind).to_owned()
    }),
    text("verbPhrase", |generator| {
        format!("{} {}", generator.pick(TRANSITIVE), nouns::phrase(generator))
    }),
];

const ACTIONS: Words = words(
    "bake, build, carry, catch, chase, climb, cook, dance, dig, draw, drive, jump, kick, knit, lift, march, \
     paint, plant, pull, push, read, ride, row, run, sew, sing, skate, sow, sweep, swim, throw, walk, wash, \
     write",
);
const HELPING: Words = words(
    "am, are, be, been, can, could, did, do, does, had, has, have, is, may, might, must, shall, should, \
     was, were, will, would",
);
const INTRANSITIVE: Words = words(
    "arrive, bloom, cough, doze, fall, giggle, kneel, laugh, linger, rest, rise, sit, sleep, smile, sneeze, \
     stand, stay, wait, wander, yawn",
);
const LINKING: Words = words(
    "am, appear, are, become, feel, grow, is, look, prove, remain, seem, smell, sound, taste, was, were",
);
const TRANSITIVE: Words = words(
    "admire, borrow, bring, choose, clean, count, cut, fetch, find, follow, hold, keep, lend, mend, open, \
     polish, repair, sell, show, take, visit, watch",
);
/// Transitive verbs.
pub(super) const IN_THIRD_PERSON: Words = words(
    "admires, borrows, brings, chooses, cleans, counts, fetches, finds, follows, holds, keeps, mends, \
     opens, polishes, repairs, sells, shows, takes, visits, watches",
);
