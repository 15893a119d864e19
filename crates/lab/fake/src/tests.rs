//! The whole catalog: kinds, forms and bounds of all values, and the texts of refusals.

use std::{
    collections::BTreeSet,
    time::{Duration, UNIX_EPOCH},
};

use regex::Regex;

use super::*;
use crate::catalog::{CATEGORIES, category_of, function, functions};

/// A generator in the year 2026.
fn generator(seed: u64) -> Generator {
    let mut generator = Generator::new(Some(seed));
    generator.set_time(UNIX_EPOCH + Duration::from_secs(1_772_719_629));
    generator
}

/// Arguments for all parameters without a default.
fn sample(function: &Function) -> Vec<Argument> {
    let list = |items: &[&str]| Argument::List(items.iter().map(|&item| item.to_owned()).collect());
    let argument = |parameter: &Parameter| match (parameter.presence, parameter.kind, parameter.name) {
        (Presence::Required, Kind::Number, "max") => Argument::Text("5".to_owned()),
        (Presence::Required, Kind::Number, _) => Argument::Text("3".to_owned()),
        (Presence::Required, Kind::Texts, _) => list(&["one", "two", "three"]),
        (Presence::Required, Kind::Numbers, _) => list(&["14", "8", "13"]),
        (Presence::Required, _, _) => Argument::Text("a-##-??".to_owned()),
        _ => Argument::Missing,
    };
    function.parameters.iter().map(argument).collect()
}

fn texts(arguments: &[&str]) -> Vec<Argument> {
    let argument = |text: &&str| match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some("") => Argument::List(Vec::new()),
        Some(items) => Argument::List(items.split(',').map(str::to_owned).collect()),
        None if *text == "-" => Argument::Missing,
        None => Argument::Text((*text).to_owned()),
    };
    arguments.iter().map(argument).collect()
}

fn has_kind(value: &Value, kind: Kind) -> bool {
    let all = |items: &[Value], kind| items.iter().all(|item| has_kind(item, kind));
    match (value, kind) {
        (Value::Text(text), Kind::Text) => !text.is_empty(),
        (Value::Number(number), Kind::Number) => number.is_finite(),
        (Value::Boolean(_), Kind::Boolean) => true,
        (Value::List(items), Kind::Texts) => !items.is_empty() && all(items, Kind::Text),
        (Value::List(items), Kind::Numbers) => !items.is_empty() && all(items, Kind::Number),
        (Value::Object(fields), Kind::Object) => !fields.is_empty(),
        _ => false,
    }
}

#[test]
fn every_function_gives_its_kind() {
    for function in functions() {
        let mut generator = generator(11);
        for _ in 0..50 {
            let value = function.call(&mut generator, &sample(function)).unwrap();
            assert!(has_kind(&value, function.result), "{function:?}: {value:?}");
        }
    }
}

#[test]
fn a_seed_decides_all_values() {
    let all = |seed| {
        let mut generator = generator(seed);
        let call = |function: &'static Function| function.call(&mut generator, &sample(function)).unwrap();
        functions().map(call).collect::<Vec<_>>()
    };
    assert_eq!(all(11), all(11));
    let pairs = all(11).into_iter().zip(all(12));
    let n_equal = pairs.filter(|(one, other)| one == other).count();
    assert!(n_equal < functions().count() / 4, "{n_equal}");
}

#[test]
fn names_are_those_of_one_function() {
    let mut names = BTreeSet::new();
    for one in functions() {
        assert!(names.insert(one.name), "{one:?}");
        assert_eq!(function(one.name).map(|found| found.name), Some(one.name));
    }
    assert_eq!((names.len(), CATEGORIES.len()), (312, 29));
    assert_eq!(
        category_of("person").unwrap().function("firstName").unwrap().name,
        "firstName"
    );
    assert!(category_of("person").unwrap().function("city").is_none());
    assert!(category_of("zen").is_none());
}

#[test]
fn lists_have_each_word_once() {
    for function in functions() {
        let Some(words) = function.words() else { continue };
        let mut seen = BTreeSet::new();
        for word in words.all() {
            assert_eq!(word, word.trim(), "{function:?}");
            assert!(!word.is_empty() && seen.insert(word), "{function:?}: {word:?}");
        }
        assert!(seen.len() > 1, "{function:?}");
    }
}

#[test]
fn values_have_their_form() {
    let check = |name: &str, arguments: &[&str], pattern: &str| {
        let pattern = Regex::new(&format!("^(?:{pattern})$")).unwrap();
        let mut generator = generator(7);
        for _ in 0..100 {
            let value = function(name).unwrap().call(&mut generator, &texts(arguments));
            let text = match value.unwrap() {
                Value::Text(text) => text.into_owned(),
                Value::Number(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            assert!(pattern.is_match(&text), "{name}({arguments:?}): {text}");
        }
    };
    let date = "(19[0-9]{2}|20[0-2][0-9])-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])";
    check("achRoutingNumber", &[], "[0-9]{9}");
    check("appVersion", &[], r"\d+\.\d+\.\d+");
    check("beerAlcohol", &[], r"\d+\.\d%");
    check("bitcoinAddress", &[], "[13][1-9A-HJ-NP-Za-km-z]{25,33}");
    check("bitcoinPrivateKey", &[], "5[HJK][1-9A-HJ-NP-Za-km-z]{49}");
    check("brCnpj", &[], r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}");
    check("brCnpj", &["false", "true"], "[A-Z][A-Z0-9]{11}[0-9]{2}");
    check("brCpf", &["false"], "[0-9]{11}");
    check("brPhoneNumber", &[], r"\(\d{2}\) 9\d{4}-\d{4}");
    check("brPhoneNumber", &["false"], r"\(\d{2}\) 3\d{3}-\d{4}");
    check("brZipCode", &[], r"\d{5}-\d{3}");
    check("country", &[], "[A-Z][A-Za-z ]+");
    check("countryAbbreviation", &[], "[A-Z]{2}");
    check("creditCardExp", &[], "(0[1-9]|1[0-2])/(2[7-9]|3[0-6])");
    check(
        "creditCardNumber",
        &["visa", "-", "true"],
        r"4\d{3} \d{4} \d{4} \d{4}",
    );
    check(
        "creditCardNumber",
        &["[american-express]", "-", "true"],
        r"3[47]\d{2} \d{6} \d{5}",
    );
    check(
        "creditCardNumber",
        &["[visa,jcb]", "[411111,35]"],
        r"411111\d{10}|35\d{14}",
    );
    check("creditCardNumberFormatted", &[], r"[45]\d{3}-\d{4}-\d{4}-\d{4}");
    check("currencyShort", &[], "[A-Z]{3}");
    check("date", &[], &format!(r"{date}T\d\d:\d\d:\d\dZ"));
    check("date", &["yyyy-MM-dd"], date);
    check(
        "dateRange",
        &["2024-02-28", "2024-03-01"],
        "2024-02-28|2024-02-29|2024-03-01",
    );
    check("dateRange", &["03:00", "03:01", "HH:mm"], "03:0[01]");
    check("dateRange", &["-", "-", "yyyy"], "19[7-9][0-9]|20[0-2][0-9]");
    check("digitN", &["0"], "[0-9]");
    check("digitN", &["12"], "[0-9]{12}");
    check("domainName", &[], r"[a-z]+-[a-z]+\.example");
    check("email", &[], r"[a-z]+\.[a-z]+@[a-z]+-[a-z]+\.example");
    check("emojiAlias", &[], "[a-z_]+");
    check("float32Range", &["3", "5"], r"[34](\.\d+)?|5");
    check("float64Range", &["-1e308", "1e308"], r"-?\d+(\.\d+)?");
    check("futureTime", &[], r"2026-03-0[56]T\d\d:\d\d:\d\dZ");
    check("hexColor", &[], "#[0-9a-f]{6}");
    check("hexUint256", &[], "0x[0-9a-f]{64}");
    check("hipsterSentence", &["1"], r"[A-Z][a-z ]+\.");
    check("imageUrl", &["320", "200"], "https://images.example/320/200");
    check("intRange", &["3", "5"], "[345]");
    check("intRange", &["-2", "-2"], "-2");
    check("intRange", &["5", "3"], "[345]");
    check("ipv6Address", &[], "[0-9a-f:]+");
    check("latitudeRange", &["10", "10.5"], r"10(\.\d{1,6})?");
    check("letterN", &["4"], "[A-Za-z]{4}");
    check("lexify", &["?-#"], "[a-z]-#");
    check("loremIpsumSentence", &["2"], r"[A-Z][a-z]* [a-z]+\.");
    check("macAddress", &[], "([0-9a-f]{2}:){5}[0-9a-f]{2}");
    check("month", &[], "[1-9]|1[0-2]");
    check("number", &["-1", "1"], "-1|0|1");
    check("numerify", &["(###)-?"], r"\(\d{3}\)-\?");
    check(
        "paragraph",
        &["2", "1", "1", "|"],
        r"[A-Z][a-z]+\.\|[A-Z][a-z]+\.",
    );
    check(
        "password",
        &["true", "false", "false", "false", "true", "9"],
        "[a-z][a-z ]{7}[a-z]",
    );
    check(
        "password",
        &["false", "false", "false", "false", "false", "1"],
        "[A-Za-z0-9]{5}",
    );
    check("pastTime", &[], r"2026-03-05T\d\d:\d\d:\d\dZ");
    check("phone", &[], "[1-9][0-9]{9}");
    check("price", &["1.5", "1.6"], r"1\.(5\d?|6)");
    check("productUpc", &[], "0[0-9]{11}");
    check("question", &[], r"[A-Z][a-z]+( [a-z]+){2,9}\?");
    check("quote", &[], r#""[A-Z][a-z ]+\." - [A-Z][a-z]+ [A-Z][a-z]+"#);
    check("randomInt", &["[14,-8]"], "14|-8");
    check("randomString", &["only"], "only");
    check("ssn", &[], "9[0-9]{8}");
    check("timezoneFull", &[], r"\(UTC[+-]\d\d:\d\d\) [A-Za-z ]+");
    check("timezoneOffset", &[], r"-?\d+(\.\d+)?");
    check("uintRange", &["4294967296", "4294967297"], "429496729[67]");
    check("url", &[], r"https://www\.[a-z]+-[a-z]+\.example/[a-z]+");
    check("username", &[], "[A-Z][a-z]+[0-9]{4}");
    check(
        "uuid",
        &[],
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    );
    check("year", &[], "19[0-9]{2}|20[01][0-9]|202[0-6]");
    check("zip", &[], "[0-9]{5}");
}

#[test]
fn numbers_of_cards_and_securities_have_their_check_digits() {
    let mut generator = generator(3);
    let mut text = |name: &str| match function(name).unwrap().call(&mut generator, &[]) {
        Ok(Value::Text(text)) => text.replace(['-', ' '], ""),
        other => panic!("{name}: {other:?}"),
    };
    type Completing = fn(&str) -> char;
    let kinds: [(&str, Completing); 6] = [
        ("creditCardNumber", check_digit::luhn),
        ("creditCardNumberFormatted", check_digit::luhn),
        ("cusip", check_digit::cusip),
        ("isin", check_digit::isin),
        ("achRoutingNumber", check_digit::routing),
        ("productUpc", check_digit::upc),
    ];
    for (name, make) in kinds {
        for _ in 0..100 {
            let number = text(name);
            let (begin, end) = number.split_at(number.len() - 1);
            assert_eq!(make(begin).to_string(), end, "{name}: {number}");
        }
    }
}

#[test]
fn objects_have_the_fields_of_gofakeit() {
    fn names(value: &Value) -> String {
        let Value::Object(fields) = value else {
            return String::new();
        };
        let field = |(name, value): &(std::borrow::Cow<'_, str>, Value)| match value {
            Value::Object(_) => format!("{name}: {{ {} }}", names(value)),
            _ => name.to_string(),
        };
        fields.iter().map(field).collect::<Vec<_>>().join(", ")
    }
    let check = |name: &str, expected: &str| {
        let value = function(name).unwrap().call(&mut generator(5), &[]).unwrap();
        assert_eq!(names(&value), expected, "{name}");
    };
    let address = "address, street, city, state, zip, country, latitude, longitude";
    check("address", address);
    check("book", "title, author, genre");
    check("car", "type, fuel, transmission, brand, model, year");
    check("creditCard", "type, number, exp, cvv");
    check("currency", "short, long");
    check("job", "company, title, descriptor, level");
    check("movie", "name, genre");
    check(
        "person",
        &format!(
            "first_name, last_name, gender, ssn, image, hobby, job: {{ company, title, descriptor, level }}, address: {{ \
             {address} }}, contact: {{ phone, email }}, credit_card: {{ type, number, exp, cvv }}"
        ),
    );
    check(
        "product",
        "name, description, categories, price, features, color, material, upc",
    );
}

#[test]
fn people_are_spread_over_teams() {
    let check = |people: &str, teams: &str, expected: &[usize]| {
        let value = function("teams")
            .unwrap()
            .call(&mut generator(5), &texts(&[people, teams]));
        let Value::Object(teams) = value.unwrap() else {
            panic!("teams are no object")
        };
        let sizes: Vec<_> = teams
            .iter()
            .map(|(_, members)| match members {
                Value::List(members) => members.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(sizes, expected, "{people} {teams:?}");
    };
    check("[a,b,c,d,e]", "[x,y]", &[3, 2]);
    check("[a,b,c,d]", "[x,y,z]", &[2, 2, 0]);
    check("[a]", "[x,y]", &[1, 0]);
    check("[]", "[x]", &[0]);
}

#[test]
fn refusals_name_function_argument_and_expectation() {
    let check = |name: &str, arguments: &[&str], expected: &str| {
        let refused = function(name).unwrap().call(&mut generator(1), &texts(arguments));
        assert_eq!(
            refused.unwrap_err().to_string(),
            expected,
            "{name}({arguments:?})"
        );
    };
    check(
        "intRange",
        &[],
        "intRange(): `min` is missing; expected an integer",
    );
    check(
        "intRange",
        &["1"],
        "intRange(): `max` is missing; expected an integer",
    );
    check(
        "intRange",
        &["1.5", "2"],
        "intRange(): `min` is \"1.5\"; expected an integer",
    );
    check(
        "intRange",
        &["1", "null"],
        "intRange(): `max` is \"null\"; expected an integer",
    );
    check(
        "intRange",
        &["[1,2]", "2"],
        "intRange(): `min` is a list of 2 items; expected an integer",
    );
    check(
        "uintRange",
        &["-1"],
        "uintRange(): `min` is \"-1\"; expected an integer from 0",
    );
    check(
        "float64Range",
        &["x", "1"],
        "float64Range(): `min` is \"x\"; expected a number",
    );
    check(
        "float64Range",
        &["0", "Infinity"],
        "float64Range(): `max` is \"inf\"; expected a finite number",
    );
    check(
        "latitudeRange",
        &["-91"],
        "latitudeRange(): `min` is \"-91\"; expected degrees from -90 to 90",
    );
    check(
        "latitudeRange",
        &["50", "40"],
        "latitudeRange(): `min` is \"50\"; expected at most `max`, which is 40",
    );
    check(
        "password",
        &["yes"],
        "password(): `lower` is \"yes\"; expected true or false",
    );
    check(
        "sentence",
        &["51"],
        "sentence(): `wordcount` is \"51\"; expected an integer from 1 to 50",
    );
    check(
        "paragraph",
        &["0"],
        "paragraph(): `paragraphcount` is \"0\"; expected an integer from 1 to 20",
    );
    check("lexify", &[], "lexify(): `str` is missing; expected a text");
    check(
        "randomInt",
        &["[]"],
        "randomInt(): `ints` is an empty list; expected at least one item",
    );
    check(
        "randomInt",
        &["[1,x]"],
        "randomInt(): `ints` is \"x\"; expected a list of integers, for example [1, 2]",
    );
    check(
        "dice",
        &["1", "[0]"],
        "dice(): `sides` is \"0\"; expected dice with at least one side",
    );
    check(
        "dateRange",
        &["2024-01-32"],
        "dateRange(): `startdate` is \"2024-01-32\"; expected a date in the format \"yyyy-MM-dd\"",
    );
    check(
        "creditCardNumber",
        &["viza"],
        "creditCardNumber(): `types` is \"viza\"; expected all, or a list of visa, mastercard, american-express, diners-club, \
         discover, jcb, unionpay, maestro, elo, hiper, hipercard",
    );
    check(
        "creditCardNumber",
        &["visa", "4x"],
        "creditCardNumber(): `bins` is \"4x\"; expected up to 15 digits, for example \"411111\"",
    );
    check(
        "brSearchTerm",
        &["any"],
        "brSearchTerm(): `mode` is \"any\"; expected random, simple or compound",
    );
    let long = "x".repeat(50);
    let shown = "x".repeat(40);
    check(
        "digitN",
        &[&long],
        &format!("digitN(): `count` is \"{shown}…\"; expected an integer from 0 to 1048576"),
    );
}

#[test]
fn the_size_of_a_value_is_bounded() {
    let call =
        |name: &str, arguments: &[Argument]| function(name).unwrap().call(&mut generator(1), arguments);
    let text = |length: usize| Argument::Text("?".repeat(length));
    let number = |number: usize| Argument::Text(number.to_string());
    let list = |length: usize| Argument::List(vec!["1".to_owned(); length]);
    let bounded = [
        ("digitN", number(MOST_LETTERS), number(MOST_LETTERS + 1)),
        ("letterN", number(MOST_LETTERS), number(MOST_LETTERS + 1)),
        ("lexify", text(MOST_LETTERS), text(MOST_LETTERS + 1)),
        ("dice", number(MOST_ITEMS), number(MOST_ITEMS + 1)),
        ("shuffleInts", list(MOST_ITEMS), list(MOST_ITEMS + 1)),
        ("shuffleStrings", list(MOST_ITEMS), list(MOST_ITEMS + 1)),
    ];
    for (name, most, more) in bounded {
        assert!(call(name, &[most]).is_ok(), "{name}");
        assert!(call(name, &[more]).is_err(), "{name}");
    }
    let mut password = vec![Argument::Missing; 5];
    password.push(number(usize::MAX));
    assert!(call("password", &password).is_err());
    let mut paragraphs = vec![number(20), number(20), number(50)];
    paragraphs.push(text(MOST_LETTERS + 1));
    assert!(call("paragraph", &paragraphs).is_err());
}
