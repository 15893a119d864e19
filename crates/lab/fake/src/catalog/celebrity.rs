//! Famous people of other centuries.

use crate::{
    function::{Function, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("celebrityActor", ACTORS),
    word("celebrityBusiness", IN_BUSINESS),
    word("celebritySport", ATHLETES),
];

const ACTORS: Words = words(
    "Anna May Wong, Asta Nielsen, Buster Keaton, Charlie Chaplin, Clara Bow, Douglas Fairbanks, Edwin \
     Booth, Greta Garbo, Harold Lloyd, Ira Aldridge, Lillian Gish, Mary Pickford, Max Linder, Rudolph \
     Valentino, Sarah Bernhardt",
);
const IN_BUSINESS: Words = words(
    "Alfred Nobel, Andrew Carnegie, Cornelius Vanderbilt, Gottlieb Daimler, Henry Ford, Josiah Wedgwood, \
     King Camp Gillette, Levi Strauss, Madam C. J. Walker, Richard Sears, Veuve Clicquot, Werner von \
     Siemens",
);
const ATHLETES: Words = words(
    "Babe Didrikson, Dorando Pietri, Gertrude Ederle, Jack Johnson, James Braid, Jesse Owens, Jim Thorpe, \
     Paavo Nurmi, Spyridon Louis, Suzanne Lenglen, W. G. Grace, William Renshaw",
);
