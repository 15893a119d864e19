//! The names of people.

use crate::{
    generator::Generator,
    words::{Words, words},
};

/// First names.
pub const FIRST_NAMES: Words = words(
    "Ada, Alan, Amina, Barbara, Bjorn, Carmen, Chidi, Claude, Diego, Donald, Edith, Elif, Emeka, Frances, \
     Grace, Hana, Hedy, Ingrid, Ivan, Jana, John, Katherine, Kenji, Leila, Leslie, Luca, Margaret, Mei, \
     Nadia, Niklaus, Olga, Omar, Peter, Priya, Radia, Rafael, Sanjay, Sofia, Sophie, Tim, Ursula, Vera, \
     Wanjiru, Yukihiro, Yusuf, Zora",
);
/// Last names.
pub const LAST_NAMES: Words = words(
    "Adams, Almeida, Baker, Bauer, Clark, Costa, Davies, Dubois, Evans, Fischer, Garcia, Haddad, Hansen, \
     Ivanov, Jensen, Jones, Kim, Kowalski, Larsen, Lopez, Meyer, Moreau, Nakamura, Novak, Okafor, Otieno, \
     Patel, Quinn, Rossi, Sato, Silva, Tanaka, Usman, Virtanen, Vogel, Weber, Wilson, Yilmaz, Young, Zhang",
);

/// A first and a last name.
pub fn full_name(generator: &mut Generator) -> String {
    format!("{} {}", generator.pick(FIRST_NAMES), generator.pick(LAST_NAMES))
}
