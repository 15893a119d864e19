//! Numbers of securities.

use super::address;
use crate::{
    check_digit,
    function::{Function, text},
    generator::Generator,
};

pub(super) const FUNCTIONS: &[Function] = &[text("cusip", cusip), text("isin", isin)];

/// A number of a security in North America: nine letters and digits, of which the last checks the others.
fn cusip(generator: &mut Generator) -> String {
    let mut number = generator.characters("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 8);
    number.push(check_digit::cusip(&number));
    number
}

/// A country, a national number and a check digit (ISO 6166).
fn isin(generator: &mut Generator) -> String {
    let (country, _) = address::country(generator);
    let mut number = format!("{country}{}", cusip(generator));
    number.push(check_digit::isin(&number));
    number
}
