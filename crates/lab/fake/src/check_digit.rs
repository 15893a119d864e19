//! Check digits of numbers of cards, securities, banks and goods.

/// The digit that completes a number for Luhn's rule (ISO/IEC 7812-1, Annex B).
pub(crate) fn luhn(digits: &str) -> char {
    let from_the_right = digits.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let sum = from_the_right.enumerate().map(|(at, digit)| match at % 2 {
        // The digit itself will stand at the end, so its neighbour counts twice.
        0 => digit * 2 / 10 + digit * 2 % 10,
        _ => digit,
    });
    completing(sum.sum())
}

/// The digit that completes eight letters and digits to a CUSIP.
pub(crate) fn cusip(text: &str) -> char {
    let values = text.chars().enumerate().map(|(at, character)| {
        let value = character.to_digit(36).unwrap_or(0) * (1 + at as u32 % 2);
        value / 10 + value % 10
    });
    completing(values.sum())
}

/// The digit that completes a country and a national number to an ISIN (ISO 6166): Luhn's, with two digits per letter.
pub(crate) fn isin(text: &str) -> char {
    let digits: String = text
        .chars()
        .map(|character| character.to_digit(36).unwrap_or(0).to_string())
        .collect();
    luhn(&digits)
}

/// The digit that completes eight digits to the number of an American bank, whose weights are 3, 7 and 1.
pub(crate) fn routing(digits: &str) -> char {
    completing(weighted(digits, &[3, 7, 1]))
}

/// The digit that completes eleven digits to a Universal Product Code.
pub(crate) fn upc(digits: &str) -> char {
    completing(weighted(digits, &[3, 1]))
}

/// A digit of a CPF or CNPJ, the numbers of people and companies in Brazil. Weights rise from 2 at the right end to
/// `most`, and begin again. Letters count as their distance from `0` in ASCII.
pub(crate) fn brazilian(text: &str, most: u32) -> char {
    let from_the_right = text.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let weights = (2..=most).cycle();
    let sum: u32 = from_the_right
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum();
    digit(match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    })
}

fn weighted(digits: &str, weights: &[u32]) -> u32 {
    let values = digits.bytes().map(|byte| u32::from(byte - b'0'));
    let weights = weights.iter().cycle();
    values.zip(weights).map(|(value, weight)| value * weight).sum()
}

/// The digit that makes a sum divisible by ten.
fn completing(sum: u32) -> char {
    digit((10 - sum % 10) % 10)
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_known_numbers() {
        let check = |make: &dyn Fn(&str) -> char, complete: &str| {
            let (begin, end) = complete.split_at(complete.len() - 1);
            assert_eq!(make(begin).to_string(), end, "{complete}");
        };
        check(&luhn, "4111111111111111");
        check(&luhn, "378282246310005");
        check(&cusip, "037833100");
        check(&cusip, "38259P508");
        check(&isin, "US0378331005");
        check(&isin, "GB0002634946");
        check(&routing, "011000015");
        check(&upc, "036000291452");
        check(&|text| brazilian(text, 11), "52998224725");
        check(&|text| brazilian(text, 9), "11222333000181");
        check(&|text| brazilian(text, 9), "12ABC34501DE35");
    }
}
