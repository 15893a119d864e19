//! Invented values: the functions of Artillery's plugin `fake-data`, of which each is named after a module and a function
//! of the library that Artillery uses. The words are those of `plimsoll-fake`, which scripts draw with `k6/x/faker`.

use std::collections::BTreeMap;

use plimsoll_fake::{
    Generator, LETTERS, LETTERS_AND_DIGITS, Words,
    catalog::{address, color, company, internet, names, payment, person, product, strings, time, word},
};
use serde_json::{Map, Value};

/// The settings of functions, by the names of functions without `$`.
pub(crate) type FakeOptions = BTreeMap<String, Map<String, Value>>;

/// A function that invents a text.
pub(crate) struct Fake {
    /// With `$`.
    pub(crate) name: &'static str,
    /// The options that it has.
    pub(crate) options: &'static [&'static str],
    make: fn(&mut Generator, &Map<String, Value>) -> String,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Fake {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Fake {
    /// The function of a name with `$`; older names, such as `$randEmail`, are other names of some.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let older = OLDER_NAMES.iter().find(|(older, _)| *older == name);
        let name = older.map_or(name, |(_, name)| name);
        FAKES.iter().find(|fake| fake.name == name)
    }

    /// All names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let older = OLDER_NAMES.iter().map(|(older, _)| *older);
        FAKES.iter().map(|fake| fake.name).chain(older)
    }

    pub(crate) fn value(&self, options: &FakeOptions) -> String {
        let none = Map::new();
        let options = options.get(&self.name[1..]).unwrap_or(&none);
        (self.make)(&mut Generator::new(None), options)
    }
}

/// The longest text that options may ask for. Reason: a mistake must not take all memory.
pub(crate) const LONGEST: u64 = 1 << 16;

const fn plain(name: &'static str, make: fn(&mut Generator, &Map<String, Value>) -> String) -> Fake {
    Fake {
        name,
        options: &[],
        make,
    }
}

const fn with_options(
    name: &'static str,
    options: &'static [&'static str],
    make: fn(&mut Generator, &Map<String, Value>) -> String,
) -> Fake {
    Fake { name, options, make }
}

static FAKES: &[Fake] = &[
    plain("$colorHuman", |generator, _| pick(generator, color::BASIC)),
    plain("$colorRgb", |generator, _| color::hex(generator)),
    plain("$commerceDepartment", |generator, _| {
        pick(generator, product::DEPARTMENTS)
    }),
    plain("$commercePrice", |generator, _| cents(generator, 100, 100_000)),
    plain("$commerceProduct", |generator, _| {
        pick(generator, product::PRODUCTS)
    }),
    plain("$commerceProductName", |generator, _| product::name(generator)),
    plain("$companyName", |generator, _| company::name(generator)),
    plain("$datatypeBoolean", |generator, _| generator.boolean().to_string()),
    plain("$dateMonth", |generator, _| pick(generator, time::MONTHS)),
    plain("$dateWeekday", |generator, _| pick(generator, time::WEEKDAYS)),
    plain("$financeAccountNumber", |generator, _| generator.digits(8)),
    plain("$financeAmount", |generator, _| cents(generator, 0, 100_000)),
    plain("$financeCurrencyCode", |generator, _| {
        payment::currency(generator).0.to_owned()
    }),
    plain("$internetDomainName", |generator, _| internet::domain(generator)),
    plain("$internetDomainWord", |generator, _| pick(generator, word::WORDS)),
    plain("$internetEmail", |generator, _| {
        format!("{}@{}", username(generator), internet::domain(generator))
    }),
    plain("$internetExampleEmail", |generator, _| {
        format!("{}@example.com", username(generator))
    }),
    plain("$internetHttpMethod", |generator, _| {
        one_of(generator, &["GET", "POST", "PUT", "DELETE", "PATCH"])
    }),
    plain("$internetHttpStatusCode", |generator, _| {
        one_of(
            generator,
            &["200", "201", "204", "301", "304", "400", "404", "500"],
        )
    }),
    plain("$internetIp", |generator, _| ipv4(generator)),
    plain("$internetIpv4", |generator, _| ipv4(generator)),
    plain("$internetIpv6", |generator, _| internet::ipv6(generator)),
    plain("$internetMac", |generator, _| internet::mac(generator)),
    with_options("$internetPassword", &["length"], |generator, options| {
        generator.characters(LETTERS_AND_DIGITS, length(options, 15))
    }),
    plain("$internetPort", |generator, _| {
        generator.integer(1..=65_535).to_string()
    }),
    plain("$internetProtocol", |generator, _| {
        one_of(generator, &["http", "https"])
    }),
    plain("$internetUrl", |generator, _| {
        format!("https://{}/", internet::domain(generator))
    }),
    plain("$internetUserAgent", |generator, _| internet::firefox(generator)),
    plain("$internetUsername", |generator, _| username(generator)),
    plain("$locationBuildingNumber", |generator, _| {
        address::street_number(generator)
    }),
    plain("$locationCity", |generator, _| pick(generator, address::CITIES)),
    plain("$locationCountry", |generator, _| {
        address::country(generator).1.to_owned()
    }),
    plain("$locationCountryCode", |generator, _| {
        address::country(generator).0.to_owned()
    }),
    plain("$locationLatitude", |generator, _| degrees(generator, 90)),
    plain("$locationLongitude", |generator, _| degrees(generator, 180)),
    plain("$locationStreet", |generator, _| address::street(generator)),
    plain("$locationStreetAddress", |generator, _| {
        format!("{} {}", generator.integer(1..=999), address::street(generator))
    }),
    plain("$locationZipCode", |generator, _| address::zip(generator)),
    plain("$loremParagraph", |generator, _| paragraph(generator)),
    plain("$loremSentence", |generator, _| sentence(generator)),
    plain("$loremSentences", |generator, _| paragraph(generator)),
    plain("$loremSlug", |generator, _| words(generator, 3).join("-")),
    plain("$loremText", |generator, _| paragraph(generator)),
    plain("$loremWord", |generator, _| pick(generator, word::WORDS)),
    plain("$loremWords", |generator, _| words(generator, 3).join(" ")),
    with_options("$numberFloat", &["min", "max"], |generator, options| {
        let (min, max) = bounds(options, 0.0, 1.0);
        generator.float(min, max).to_string()
    }),
    with_options("$numberInt", &["min", "max"], |generator, options| {
        let (min, max) = bounds(options, 0.0, MOST_INT);
        let (min, max) = (min.ceil() as i64, max.floor() as i64);
        generator.integer(min..=max.max(min)).to_string()
    }),
    plain("$personBio", |generator, _| {
        let job = pick(generator, company::JOBS).to_lowercase();
        format!("{job}, {}", generator.pick(word::WORDS))
    }),
    plain("$personFirstName", |generator, _| {
        pick(generator, names::FIRST_NAMES)
    }),
    plain("$personFullName", |generator, _| names::full_name(generator)),
    plain("$personJobTitle", |generator, _| pick(generator, company::JOBS)),
    plain("$personLastName", |generator, _| {
        pick(generator, names::LAST_NAMES)
    }),
    plain("$personMiddleName", |generator, _| {
        pick(generator, names::FIRST_NAMES)
    }),
    plain("$personPrefix", |generator, _| pick(generator, person::PREFIXES)),
    plain("$personSex", |generator, _| pick(generator, person::GENDERS)),
    plain("$phoneNumber", |generator, _| {
        format!("+1-555-{}-{}", generator.digits(3), generator.digits(4))
    }),
    with_options("$stringAlpha", &["length"], |generator, options| {
        generator.characters(LETTERS, length(options, 1))
    }),
    with_options("$stringAlphanumeric", &["length"], |generator, options| {
        generator.characters(LETTERS_AND_DIGITS, length(options, 1))
    }),
    with_options("$stringHexadecimal", &["length"], |generator, options| {
        format!(
            "0x{}",
            generator.characters("0123456789abcdef", length(options, 1))
        )
    }),
    with_options("$stringNanoid", &["length"], |generator, options| {
        generator.characters(LETTERS_AND_DIGITS, length(options, 21))
    }),
    with_options("$stringNumeric", &["length"], |generator, options| {
        generator.digits(length(options, 1))
    }),
    plain("$stringUuid", |generator, _| strings::uuid(generator)),
];

const OLDER_NAMES: &[(&str, &str)] = &[
    ("$randBoolean", "$datatypeBoolean"),
    ("$randCity", "$locationCity"),
    ("$randColor", "$colorHuman"),
    ("$randCompanyName", "$companyName"),
    ("$randCountry", "$locationCountry"),
    ("$randEmail", "$internetEmail"),
    ("$randFirstName", "$personFirstName"),
    ("$randFullName", "$personFullName"),
    ("$randIp", "$internetIpv4"),
    ("$randJobTitle", "$personJobTitle"),
    ("$randLastName", "$personLastName"),
    ("$randNumber", "$numberInt"),
    ("$randParagraph", "$loremParagraph"),
    ("$randPassword", "$internetPassword"),
    ("$randPhoneNumber", "$phoneNumber"),
    ("$randProductName", "$commerceProductName"),
    ("$randSentence", "$loremSentence"),
    ("$randStreetAddress", "$locationStreetAddress"),
    ("$randText", "$loremText"),
    ("$randUrl", "$internetUrl"),
    ("$randUserName", "$internetUsername"),
    ("$randUuid", "$stringUuid"),
    ("$randWord", "$loremWord"),
    ("$randZipCode", "$locationZipCode"),
];

/// The largest whole number of JavaScript.
const MOST_INT: f64 = 9_007_199_254_740_991.0;

fn pick(generator: &mut Generator, words: Words) -> String {
    generator.pick(words).to_owned()
}

fn one_of(generator: &mut Generator, texts: &[&str]) -> String {
    generator.one_of(texts).to_owned()
}

fn cents(generator: &mut Generator, from: i64, to: i64) -> String {
    let cents = generator.integer(from..=to);
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn degrees(generator: &mut Generator, most: i64) -> String {
    let most = most * 10_000;
    format!("{:.4}", generator.integer(-most..=most) as f64 / 1e4)
}

fn username(generator: &mut Generator) -> String {
    let name = names::full_name(generator).replace(' ', "_");
    format!("{name}{}", generator.integer(0..=9_999))
}

/// An address for documentation (RFC 5737).
fn ipv4(generator: &mut Generator) -> String {
    let network = generator.one_of(&["192.0.2", "198.51.100", "203.0.113"]);
    format!("{network}.{}", generator.integer(1..=254))
}

fn words(generator: &mut Generator, n: usize) -> Vec<&'static str> {
    (0..n).map(|_| generator.pick(word::WORDS)).collect()
}

fn sentence(generator: &mut Generator) -> String {
    let n = generator.size(5..=11);
    word::sentence(generator, word::WORDS, n, '.')
}

fn paragraph(generator: &mut Generator) -> String {
    let sentences: Vec<_> = (0..4).map(|_| sentence(generator)).collect();
    sentences.join(" ")
}

fn length(options: &Map<String, Value>, usual: usize) -> usize {
    let length = options.get("length").and_then(Value::as_u64);
    length.map_or(usual, |length| length.min(LONGEST) as usize)
}

fn bounds(options: &Map<String, Value>, min: f64, max: f64) -> (f64, f64) {
    let of = |key: &str, usual: f64| options.get(key).and_then(Value::as_f64).unwrap_or(usual);
    let (min, max) = (of("min", min), of("max", max));
    (min.clamp(-MOST_INT, MOST_INT), max.clamp(min, MOST_INT.max(min)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(name: &str, options: &Value) -> String {
        let options = options.as_object().cloned().unwrap_or_default();
        let options = [(name[1..].to_owned(), options)].into();
        Fake::named(name).unwrap().value(&options)
    }

    #[test]
    fn every_function_gives_a_text() {
        for name in Fake::names() {
            assert!(!value(name, &json!({})).is_empty(), "{name}");
        }
    }

    #[test]
    fn values_have_their_form() {
        let matches = |name: &str, options: &Value, pattern: &str| {
            let pattern = regex::Regex::new(&format!("^(?:{pattern})$")).unwrap();
            for _ in 0..100 {
                let found = value(name, options);
                assert!(pattern.is_match(&found), "{name}: {found}");
            }
        };
        matches(
            "$internetEmail",
            &json!({}),
            r"[A-Za-z_]+[0-9]+@[a-z]+-[a-z]+\.example",
        );
        matches(
            "$randEmail",
            &json!({}),
            r"[A-Za-z_]+[0-9]+@[a-z]+-[a-z]+\.example",
        );
        matches(
            "$stringUuid",
            &json!({}),
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        );
        matches("$numberInt", &json!({"min": 3, "max": 5}), "[345]");
        matches("$numberInt", &json!({"min": -2, "max": -2}), "-2");
        matches("$numberFloat", &json!({"min": 2, "max": 3}), r"2(\.[0-9]+)?|3");
        matches("$stringAlpha", &json!({"length": 7}), "[a-zA-Z]{7}");
        matches("$locationCountryCode", &json!({}), "[A-Z]{2}");
        matches("$locationCountry", &json!({}), "[A-Z][a-zA-Z ]+");
        matches("$commercePrice", &json!({}), r"[0-9]+\.[0-9]{2}");
        matches(
            "$internetIpv4",
            &json!({}),
            r"(192\.0\.2|198\.51\.100|203\.0\.113)\.[0-9]+",
        );
        assert_eq!(value("$internetPassword", &json!({})).len(), 15);
        assert_eq!(Fake::named("$nothing"), None);
    }
}
