//! Films, all of them silent.

use crate::{
    function::{Function, plain, word},
    parameter::Kind,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("movie", Kind::Object, |generator| {
        Value::object([
            ("name", generator.pick(NAMES).into()),
            ("genre", generator.pick(GENRES).into()),
        ])
    }),
    word("movieGenre", GENRES),
    word("movieName", NAMES),
];

const NAMES: Words = words(
    "A Trip to the Moon, Battleship Potemkin, Cabiria, City Lights, Faust, Greed, Intolerance, Metropolis, \
     Nosferatu, Pandora's Box, Safety Last!, Sherlock Jr., Sunrise, The Cabinet of Dr. Caligari, The \
     General, The Gold Rush, The Kid, The Lodger, The Lost World, The Phantom Carriage, Wings",
);
const GENRES: Words = words(
    "Action, Adventure, Comedy, Crime, Documentary, Drama, Fantasy, Horror, Musical, Mystery, Romance, \
     Thriller, War, Western",
);
