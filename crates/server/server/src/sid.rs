//! Session ids.

/// As long as AnyCable's ids: 21 characters of 6 random bits are 126 bits.
const LENGTH: usize = 21;
/// Characters that need no escaping in URLs, headers and JSON.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Makes an id that cannot be guessed.
///
/// It never comes from a request header: a client that could choose its id could pass for another session.
pub(crate) fn generate() -> String {
    let mut random = [0_u8; LENGTH];
    getrandom::fill(&mut random).expect("Linux gives random bytes once it has booted");
    random
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte & 63)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_long_and_differ() {
        let (a, b) = (generate(), generate());
        assert_eq!((a.len(), b.len()), (21, 21));
        assert_ne!(a, b);
    }

    #[test]
    fn every_character_occurs_once_in_the_alphabet() {
        let distinct: std::collections::BTreeSet<_> = ALPHABET.iter().collect();
        assert_eq!(distinct.len(), ALPHABET.len());
    }
}
