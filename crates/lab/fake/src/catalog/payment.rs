//! Cards, accounts and prices.

use super::address::code_and_name;
use crate::{
    arguments::{Arguments, Refusal},
    check_digit,
    function::{Function, plain, text, with},
    generator::Generator,
    parameter::{Kind, Parameter, default, optional},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("achAccountNumber", |generator| generator.digits(12)),
    text("achRoutingNumber", routing_number),
    text("bitcoinAddress", |generator| {
        let (kind, n) = (generator.one_of(&["1", "3"]), generator.size(25..=33));
        format!("{kind}{}", generator.characters(BASE58, n))
    }),
    text("bitcoinPrivateKey", |generator| {
        let kind = generator.one_of(&["5H", "5J", "5K"]);
        format!("{kind}{}", generator.characters(BASE58, 49))
    }),
    plain("creditCard", Kind::Object, card),
    text("creditCardCVV", |generator| generator.digits(3)),
    text("creditCardExp", |generator| {
        format!("{}/{}", month(generator), year(generator))
    }),
    text("creditCardExpMonth", month),
    text("creditCardExpYear", year),
    with("creditCardNumber", OF_CARD_NUMBER, Kind::Text, card_number),
    text("creditCardNumberFormatted", |generator| {
        let issuer = generator.one_of(&ISSUERS[..2]);
        let begin = generator.one_of(issuer.begins);
        with_gaps(&number_from(generator, begin, issuer.n_digits), issuer.gaps, '-')
    }),
    text("creditCardType", |generator| {
        generator.one_of(ISSUERS).name.to_owned()
    }),
    plain("currency", Kind::Object, |generator| {
        let (short, long) = currency(generator);
        Value::object([("short", short.into()), ("long", long.into())])
    }),
    text("currencyLong", |generator| currency(generator).1.to_owned()),
    text("currencyShort", |generator| currency(generator).0.to_owned()),
    with("price", OF_PRICE, Kind::Number, |generator, arguments| {
        let (min, max) = (arguments.float(0)?, arguments.float(1)?);
        Ok(price(generator, min, max).into())
    }),
];

const OF_CARD_NUMBER: &[Parameter] = &[
    default("types", Kind::Texts, ALL),
    optional("bins", Kind::Texts),
    default("gaps", Kind::Boolean, "false"),
];
const OF_PRICE: &[Parameter] = &[
    default("min", Kind::Number, "0"),
    default("max", Kind::Number, "1000"),
];

/// All issuers of cards.
const ALL: &str = "all";
/// The digits of Bitcoin, without those that look alike.
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// Codes (ISO 4217) and names.
const CURRENCIES: Words = words(
    "ARS Argentine Peso, AUD Australian Dollar, BRL Brazilian Real, GBP British Pound, CAD Canadian Dollar, \
     CNY Chinese Yuan, CZK Czech Koruna, DKK Danish Krone, EUR Euro, HUF Hungarian Forint, INR Indian \
     Rupee, ILS Israeli Shekel, JPY Japanese Yen, KES Kenyan Shilling, MXN Mexican Peso, NZD New Zealand \
     Dollar, NOK Norwegian Krone, PLN Polish Zloty, ZAR South African Rand, KRW South Korean Won, SEK \
     Swedish Krona, CHF Swiss Franc, TRY Turkish Lira, USD United States Dollar",
);

/// A company that issues cards.
#[derive(Clone, Copy)]
struct Issuer {
    /// The name in arguments.
    id: &'static str,
    name: &'static str,
    /// How its numbers begin.
    begins: &'static [&'static str],
    n_digits: usize,
    /// The numbers of digits before gaps.
    gaps: &'static [usize],
}

const fn issuer(id: &'static str, name: &'static str, begins: &'static [&'static str]) -> Issuer {
    Issuer {
        id,
        name,
        begins,
        n_digits: 16,
        gaps: &[4, 8, 12],
    }
}

const ISSUERS: &[Issuer] = &[
    issuer("visa", "Visa", &["4"]),
    issuer("mastercard", "Mastercard", &["51", "52", "53", "54", "55"]),
    Issuer {
        n_digits: 15,
        gaps: &[4, 10],
        ..issuer("american-express", "American Express", &["34", "37"])
    },
    Issuer {
        n_digits: 14,
        gaps: &[4, 10],
        ..issuer("diners-club", "Diners Club", &["36"])
    },
    issuer("discover", "Discover", &["6011", "65"]),
    issuer("jcb", "JCB", &["3528", "3589"]),
    issuer("unionpay", "UnionPay", &["62"]),
    issuer("maestro", "Maestro", &["5018", "5893", "6304"]),
    issuer("elo", "Elo", &["401178", "438935", "636368"]),
    issuer("hiper", "Hiper", &["637095"]),
    issuer("hipercard", "Hipercard", &["606282"]),
];

/// A number that ends with a check digit (ISO/IEC 7812-1).
fn number_from(generator: &mut Generator, begin: &str, n_digits: usize) -> String {
    let mut number = begin.to_owned();
    number += &generator.digits((n_digits - 1).saturating_sub(begin.len()));
    number.push(check_digit::luhn(&number));
    number
}

/// A number of a card of the types (`visa`), which begins with one of the bins.
fn card_number(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let issuers = issuers(arguments)?;
    let (bins, has_gaps) = (arguments.texts(1)?, arguments.boolean(2)?);
    let issuer = generator.one_of(&issuers);
    let begin = if bins.is_empty() {
        generator.one_of(issuer.begins)
    } else {
        generator.one_of(&bins)
    };
    if !begin.bytes().all(|byte| byte.is_ascii_digit()) || begin.len() >= issuer.n_digits {
        let expected = format!("up to {} digits, for example \"411111\"", issuer.n_digits - 1);
        return Err(arguments.wrong(1, begin, &expected));
    }
    let number = number_from(generator, begin, issuer.n_digits);
    if has_gaps {
        return Ok(with_gaps(&number, issuer.gaps, ' ').into());
    }
    Ok(number.into())
}

/// The issuers that the first argument names.
fn issuers(arguments: &Arguments<'_>) -> Result<Vec<Issuer>, Refusal> {
    let ids = arguments.some_texts(0)?;
    if ids == [ALL] {
        return Ok(ISSUERS.to_vec());
    }
    let named = |id: &&str| {
        let mut issuers = ISSUERS.iter();
        let found = issuers.find(|issuer| issuer.id == *id).copied();
        found.ok_or_else(|| {
            let all: Vec<_> = ISSUERS.iter().map(|issuer| issuer.id).collect();
            arguments.wrong(0, id, &format!("{ALL}, or a list of {}", all.join(", ")))
        })
    };
    ids.iter().map(named).collect()
}

fn with_gaps(number: &str, gaps: &[usize], gap: char) -> String {
    let mut separate = String::with_capacity(number.len() + gaps.len());
    for (position, digit) in number.chars().enumerate() {
        if gaps.contains(&position) {
            separate.push(gap);
        }
        separate.push(digit);
    }
    separate
}

pub(super) fn card(generator: &mut Generator) -> Value {
    let issuer = generator.one_of(ISSUERS);
    let begin = generator.one_of(issuer.begins);
    // That of American Express has four digits, on its front.
    let n_digits_of_cvv = if issuer.n_digits == 15 { 4 } else { 3 };
    Value::object([
        ("type", issuer.name.into()),
        ("number", number_from(generator, begin, issuer.n_digits).into()),
        ("exp", format!("{}/{}", month(generator), year(generator)).into()),
        ("cvv", generator.digits(n_digits_of_cvv).into()),
    ])
}

fn month(generator: &mut Generator) -> String {
    format!("{:02}", generator.integer(1..=12))
}

/// Two digits of one of the next ten years.
fn year(generator: &mut Generator) -> String {
    let years = generator.integer(1..=10);
    format!("{:02}", (super::time::this_year(generator) + years) % 100)
}

/// Eight digits and one that checks them.
fn routing_number(generator: &mut Generator) -> String {
    let mut number = generator.digits(8);
    number.push(check_digit::routing(&number));
    number
}

/// The code and the name of a currency.
pub fn currency(generator: &mut Generator) -> (&'static str, &'static str) {
    code_and_name(generator, CURRENCIES)
}

/// A number with two digits after the point. The smaller of the bounds counts as it is.
pub(super) fn price(generator: &mut Generator, min: f64, max: f64) -> f64 {
    let price = generator.float(min, max);
    let cents = (price * 100.0).floor() / 100.0;
    if cents.is_finite() {
        cents.max(min.min(max))
    } else {
        price
    }
}
