//! Hosts, browsers and accounts.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{names::LAST_NAMES, word::WORDS};
use crate::{
    arguments::{Arguments, MOST_LETTERS, Refusal},
    function::{Function, number, text, with, word},
    generator::{CAPITAL_LETTERS, DIGITS, Generator, HEX_DIGITS, SMALL_LETTERS},
    parameter::{Kind, Parameter, default},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("chromeUserAgent", chrome),
    text("domainName", domain),
    word("domainSuffix", SUFFIXES),
    text("firefoxUserAgent", firefox),
    word("httpMethod", METHODS),
    number("httpStatusCode", |generator| status(generator, STATUSES)),
    number("httpStatusCodeSimple", |generator| {
        status(generator, COMMON_STATUSES)
    }),
    word("httpVersion", VERSIONS),
    with("imageUrl", OF_IMAGE, Kind::Text, image_url),
    word("inputName", FIELDS),
    text("ipv4Address", |generator| {
        Ipv4Addr::from(generator.bits() as u32).to_string()
    }),
    text("ipv6Address", ipv6),
    word("logLevel", LEVELS),
    text("macAddress", mac),
    text("operaUserAgent", opera),
    with("password", OF_PASSWORD, Kind::Text, password),
    text("safariUserAgent", safari),
    text("url", |generator| {
        format!("https://www.{}/{}", domain(generator), generator.pick(WORDS))
    }),
    text("userAgent", |generator| {
        let make = generator.one_of(&[chrome, firefox, opera, safari]);
        make(generator)
    }),
    text("username", |generator| {
        format!("{}{}", generator.pick(LAST_NAMES), generator.digits(4))
    }),
];

const OF_IMAGE: &[Parameter] = &[
    default("width", Kind::Number, "500"),
    default("height", Kind::Number, "500"),
];
const OF_PASSWORD: &[Parameter] = &[
    default("lower", Kind::Boolean, "true"),
    default("upper", Kind::Boolean, "true"),
    default("numeric", Kind::Boolean, "true"),
    default("special", Kind::Boolean, "true"),
    default("space", Kind::Boolean, "false"),
    default("length", Kind::Number, "12"),
];

const SUFFIXES: Words = words("app, at, biz, ch, com, de, dev, edu, fr, info, io, jp, net, org, uk, us");
const METHODS: Words = words("DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
const VERSIONS: Words = words("HTTP/1.0, HTTP/1.1, HTTP/2.0");
const FIELDS: Words = words(
    "address, age, birthday, city, comment, company, country, email, first_name, job_title, last_name, \
     message, password, phone, quantity, search, street, subject, url, username, zip",
);
const LEVELS: Words = words("debug, error, fatal, info, trace, warn");
/// Statuses that HTTP defines (RFC 9110, section 15).
const STATUSES: &[i64] = &[
    100, 101, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404,
    405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504,
    505,
];
const COMMON_STATUSES: &[i64] = &[200, 301, 302, 400, 404, 500];
const PLATFORMS: Words =
    words("Macintosh; Intel Mac OS X 10_15_7, Windows NT 10.0; Win64; x64, X11; Linux x86_64");

/// The largest side of an image, in pixels.
const MOST_PIXELS: usize = 100_000;

/// A host that does not exist.
pub fn domain(generator: &mut Generator) -> String {
    format!("{}-{}.example", generator.pick(WORDS), generator.pick(WORDS))
}

/// An address of version 6 of the Internet Protocol.
pub fn ipv6(generator: &mut Generator) -> String {
    Ipv6Addr::from(generator.bits()).to_string()
}

/// An address of a network card.
pub fn mac(generator: &mut Generator) -> String {
    let bytes: Vec<_> = (0..6).map(|_| generator.characters(HEX_DIGITS, 2)).collect();
    bytes.join(":")
}

fn status(generator: &mut Generator, statuses: &[i64]) -> f64 {
    generator.one_of(statuses) as f64
}

fn chrome(generator: &mut Generator) -> String {
    let (platform, version) = (generator.pick(PLATFORMS), generator.integer(100..=150));
    let engine = "AppleWebKit/537.36 (KHTML, like Gecko)";
    format!("Mozilla/5.0 ({platform}) {engine} Chrome/{version}.0.0.0 Safari/537.36")
}

/// What Firefox says of itself.
pub fn firefox(generator: &mut Generator) -> String {
    let (platform, version) = (generator.pick(PLATFORMS), generator.integer(90..=140));
    format!("Mozilla/5.0 ({platform}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0")
}

fn opera(generator: &mut Generator) -> String {
    let (chrome, version) = (chrome(generator), generator.integer(90..=120));
    format!("{chrome} OPR/{version}.0.0.0")
}

fn safari(generator: &mut Generator) -> String {
    let (version, patch) = (generator.integer(14..=18), generator.integer(0..=6));
    format!(
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
         Version/{version}.{patch} Safari/605.1.15"
    )
}

fn image_url(_: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let side = |position| arguments.count(position, 1..=MOST_PIXELS);
    Ok(format!("https://images.example/{}/{}", side(0)?, side(1)?).into())
}

/// At least five characters, as in gofakeit. Without any class of characters, letters and digits count. A space is
/// neither the first nor the last character.
fn password(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    const SPECIAL: &str = "!#$%&*+-.:;<=>?@_";
    let mut alphabet = String::new();
    for (position, class) in [SMALL_LETTERS, CAPITAL_LETTERS, DIGITS, SPECIAL]
        .into_iter()
        .enumerate()
    {
        if arguments.boolean(position)? {
            alphabet.push_str(class);
        }
    }
    let has_spaces = arguments.boolean(4)?;
    let length = arguments.count(5, 0..=MOST_LETTERS)?.max(5);
    if alphabet.is_empty() {
        alphabet = [SMALL_LETTERS, CAPITAL_LETTERS, DIGITS].concat();
    }
    let mut inner = alphabet.clone();
    if has_spaces {
        inner.push(' ');
    }
    let ends = [
        generator.characters(&alphabet, 1),
        generator.characters(&alphabet, 1),
    ];
    Ok([
        &ends[0],
        generator.characters(&inner, length - 2).as_str(),
        &ends[1],
    ]
    .concat()
    .into())
}
