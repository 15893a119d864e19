//! Invented values: the functions of Artillery's plugin `fake-data`, of which each is named after a module and a function
//! of the library that Artillery uses. The words are our own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The settings of functions, by the names of functions without `$`.
pub(crate) type FakeOptions = BTreeMap<String, Map<String, Value>>;

/// A function that invents a text.
pub(crate) struct Fake {
    /// With `$`.
    pub(crate) name: &'static str,
    /// The options that it has.
    pub(crate) options: &'static [&'static str],
    make: fn(&Map<String, Value>) -> String,
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
        (self.make)(options.get(&self.name[1..]).unwrap_or(&none))
    }
}

/// The longest text that options may ask for. Reason: a mistake must not take all memory.
pub(crate) const LONGEST: u64 = 1 << 16;

const fn plain(name: &'static str, make: fn(&Map<String, Value>) -> String) -> Fake {
    Fake {
        name,
        options: &[],
        make,
    }
}

const fn with_options(
    name: &'static str,
    options: &'static [&'static str],
    make: fn(&Map<String, Value>) -> String,
) -> Fake {
    Fake { name, options, make }
}

static FAKES: &[Fake] = &[
    plain("$colorHuman", |_| pick(COLORS)),
    plain("$colorRgb", |_| format!("#{:06x}", fastrand::u32(..1 << 24))),
    plain("$commerceDepartment", |_| pick(DEPARTMENTS)),
    plain("$commercePrice", |_| cents(100, 100_000)),
    plain("$commerceProduct", |_| pick(PRODUCTS)),
    plain("$commerceProductName", |_| {
        format!("{} {} {}", pick(ADJECTIVES), pick(MATERIALS), pick(PRODUCTS))
    }),
    plain("$companyName", |_| company()),
    plain("$datatypeBoolean", |_| fastrand::bool().to_string()),
    plain("$dateMonth", |_| pick(MONTHS)),
    plain("$dateWeekday", |_| pick(WEEKDAYS)),
    plain("$financeAccountNumber", |_| digits(8)),
    plain("$financeAmount", |_| cents(0, 100_000)),
    plain("$financeCurrencyCode", |_| pick(CURRENCIES)),
    plain("$internetDomainName", |_| domain()),
    plain("$internetDomainWord", |_| pick(WORDS)),
    plain("$internetEmail", |_| email()),
    plain("$internetExampleEmail", |_| format!("{}@example.com", username())),
    plain("$internetHttpMethod", |_| {
        pick(&["GET", "POST", "PUT", "DELETE", "PATCH"])
    }),
    plain("$internetHttpStatusCode", |_| {
        pick(&["200", "201", "204", "301", "304", "400", "404", "500"])
    }),
    plain("$internetIp", |_| ipv4()),
    plain("$internetIpv4", |_| ipv4()),
    plain("$internetIpv6", |_| {
        std::net::Ipv6Addr::from(fastrand::u128(..)).to_string()
    }),
    plain("$internetMac", |_| {
        let bytes: Vec<_> = (0..6).map(|_| format!("{:02x}", fastrand::u8(..))).collect();
        bytes.join(":")
    }),
    with_options("$internetPassword", &["length"], |options| {
        characters(LETTERS_AND_DIGITS, length(options, 15))
    }),
    plain("$internetPort", |_| fastrand::u16(1..).to_string()),
    plain("$internetProtocol", |_| pick(&["http", "https"])),
    plain("$internetUrl", |_| format!("https://{}/", domain())),
    plain("$internetUserAgent", |_| {
        format!(
            "Mozilla/5.0 (X11; Linux x86_64; rv:{0}.0) Gecko/20100101 Firefox/{0}.0",
            fastrand::u8(90..140)
        )
    }),
    plain("$internetUsername", |_| username()),
    plain("$locationBuildingNumber", |_| {
        fastrand::u16(1..10_000).to_string()
    }),
    plain("$locationCity", |_| pick(CITIES)),
    plain("$locationCountry", |_| {
        pick(COUNTRIES)
            .split_once(' ')
            .map_or(String::new(), |(_, name)| name.to_owned())
    }),
    plain("$locationCountryCode", |_| {
        pick(COUNTRIES).chars().take(2).collect()
    }),
    plain("$locationLatitude", |_| degrees(90)),
    plain("$locationLongitude", |_| degrees(180)),
    plain("$locationStreet", |_| street()),
    plain("$locationStreetAddress", |_| {
        format!("{} {}", fastrand::u16(1..1_000), street())
    }),
    plain("$locationZipCode", |_| digits(5)),
    plain("$loremParagraph", |_| paragraph()),
    plain("$loremSentence", |_| sentence()),
    plain("$loremSentences", |_| paragraph()),
    plain("$loremSlug", |_| words(3).join("-")),
    plain("$loremText", |_| paragraph()),
    plain("$loremWord", |_| pick(WORDS)),
    plain("$loremWords", |_| words(3).join(" ")),
    with_options("$numberFloat", &["min", "max"], |options| {
        let (min, max) = bounds(options, 0.0, 1.0);
        (min + fastrand::f64() * (max - min)).to_string()
    }),
    with_options("$numberInt", &["min", "max"], |options| {
        let (min, max) = bounds(options, 0.0, MOST_INT);
        let (min, max) = (min.ceil() as i64, max.floor() as i64);
        fastrand::i64(min..=max.max(min)).to_string()
    }),
    plain("$personBio", |_| {
        format!("{}, {}", pick(JOBS).to_lowercase(), pick(WORDS))
    }),
    plain("$personFirstName", |_| pick(FIRST_NAMES)),
    plain("$personFullName", |_| full_name()),
    plain("$personJobTitle", |_| pick(JOBS)),
    plain("$personLastName", |_| pick(LAST_NAMES)),
    plain("$personMiddleName", |_| pick(FIRST_NAMES)),
    plain("$personPrefix", |_| pick(&["Mr.", "Mrs.", "Ms.", "Dr."])),
    plain("$personSex", |_| pick(&["female", "male"])),
    plain("$phoneNumber", |_| format!("+1-555-{}-{}", digits(3), digits(4))),
    with_options("$stringAlpha", &["length"], |options| {
        characters(LETTERS, length(options, 1))
    }),
    with_options("$stringAlphanumeric", &["length"], |options| {
        characters(LETTERS_AND_DIGITS, length(options, 1))
    }),
    with_options("$stringHexadecimal", &["length"], |options| {
        format!("0x{}", characters("0123456789abcdef", length(options, 1)))
    }),
    with_options("$stringNanoid", &["length"], |options| {
        characters(LETTERS_AND_DIGITS, length(options, 21))
    }),
    with_options("$stringNumeric", &["length"], |options| {
        characters("0123456789", length(options, 1))
    }),
    plain("$stringUuid", |_| crate::artillery::program::uuid()),
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

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS_AND_DIGITS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

const FIRST_NAMES: &[&str] = &[
    "Ada",
    "Alan",
    "Barbara",
    "Claude",
    "Donald",
    "Edith",
    "Frances",
    "Grace",
    "Hedy",
    "Ingrid",
    "John",
    "Katherine",
    "Leslie",
    "Margaret",
    "Niklaus",
    "Olga",
    "Peter",
    "Radia",
    "Sophie",
    "Tim",
    "Ursula",
    "Vera",
    "Yukihiro",
    "Zora",
];
const LAST_NAMES: &[&str] = &[
    "Adams", "Baker", "Clark", "Davies", "Evans", "Fischer", "Garcia", "Hansen", "Ivanov", "Jones", "Kim",
    "Lopez", "Meyer", "Nakamura", "Okafor", "Patel", "Quinn", "Rossi", "Silva", "Tanaka", "Usman", "Vogel",
    "Wilson", "Young",
];
const JOBS: &[&str] = &[
    "Accountant",
    "Architect",
    "Baker",
    "Carpenter",
    "Designer",
    "Editor",
    "Engineer",
    "Gardener",
    "Nurse",
    "Pilot",
    "Teacher",
    "Translator",
];
const CITIES: &[&str] = &[
    "Accra", "Austin", "Bergen", "Bogota", "Brno", "Cardiff", "Daegu", "Geneva", "Hanoi", "Izmir", "Lagos",
    "Lyon", "Osaka", "Porto", "Quito", "Tampa",
];
/// Codes and names.
const COUNTRIES: &[&str] = &[
    "BR Brazil",
    "CA Canada",
    "CH Switzerland",
    "DE Germany",
    "ES Spain",
    "FR France",
    "GH Ghana",
    "IN India",
    "JP Japan",
    "KE Kenya",
    "NO Norway",
    "PT Portugal",
    "US United States",
    "VN Vietnam",
];
const STREETS: &[&str] = &[
    "Bridge", "Castle", "Church", "Garden", "High", "Lake", "Market", "Mill", "Park", "Station",
];
const STREET_KINDS: &[&str] = &["Avenue", "Lane", "Road", "Street"];
const WORDS: &[&str] = &[
    "anchor", "beacon", "cargo", "cedar", "cliff", "copper", "delta", "ember", "fable", "field", "garnet",
    "harbor", "island", "juniper", "kettle", "lantern", "maple", "meadow", "nickel", "orchard", "pepper",
    "quarry", "river", "saddle", "signal", "timber", "tunnel", "valley", "velvet", "willow", "window",
    "winter",
];
const COLORS: &[&str] = &[
    "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow",
];
const DEPARTMENTS: &[&str] = &[
    "Books", "Clothing", "Garden", "Grocery", "Kitchen", "Music", "Sports", "Toys",
];
const ADJECTIVES: &[&str] = &[
    "Compact", "Durable", "Elegant", "Handmade", "Light", "Modern", "Quiet", "Sturdy",
];
const MATERIALS: &[&str] = &[
    "Bamboo", "Cotton", "Glass", "Leather", "Oak", "Paper", "Steel", "Wool",
];
const PRODUCTS: &[&str] = &[
    "Backpack", "Bottle", "Chair", "Gloves", "Hat", "Keyboard", "Lamp", "Mug", "Shirt", "Table",
];
const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: &[&str] = &[
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const CURRENCIES: &[&str] = &["BRL", "CAD", "CHF", "EUR", "GBP", "INR", "JPY", "USD"];

fn pick(words: &[&str]) -> String {
    fastrand::choice(words).copied().unwrap_or_default().to_owned()
}

fn characters(alphabet: &str, n: usize) -> String {
    let alphabet = alphabet.as_bytes();
    (0..n)
        .map(|_| char::from(alphabet[fastrand::usize(..alphabet.len())]))
        .collect()
}

fn digits(n: usize) -> String {
    characters("0123456789", n)
}

fn cents(from: u32, to: u32) -> String {
    let cents = fastrand::u32(from..=to);
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn degrees(most: i32) -> String {
    let most = most * 10_000;
    format!("{:.4}", f64::from(fastrand::i32(-most..=most)) / 1e4)
}

fn full_name() -> String {
    format!("{} {}", pick(FIRST_NAMES), pick(LAST_NAMES))
}

fn username() -> String {
    format!(
        "{}_{}{}",
        pick(FIRST_NAMES),
        pick(LAST_NAMES),
        fastrand::u16(..10_000)
    )
}

/// Names below `example`, which belong to no one (RFC 2606).
fn domain() -> String {
    format!("{}-{}.example", pick(WORDS), pick(WORDS))
}

fn email() -> String {
    format!("{}@{}", username(), domain())
}

fn company() -> String {
    format!("{} and {}", pick(LAST_NAMES), pick(LAST_NAMES))
}

/// An address for documentation (RFC 5737).
fn ipv4() -> String {
    format!(
        "{}.{}",
        pick(&["192.0.2", "198.51.100", "203.0.113"]),
        fastrand::u8(1..255)
    )
}

fn street() -> String {
    format!("{} {}", pick(STREETS), pick(STREET_KINDS))
}

fn words(n: usize) -> Vec<String> {
    (0..n).map(|_| pick(WORDS)).collect()
}

fn sentence() -> String {
    let text = words(fastrand::usize(5..12)).join(" ");
    let (first, rest) = text.split_at(1);
    format!("{}{rest}.", first.to_uppercase())
}

fn paragraph() -> String {
    let sentences: Vec<_> = (0..4).map(|_| sentence()).collect();
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
