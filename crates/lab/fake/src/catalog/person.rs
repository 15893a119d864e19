//! People.

use super::{
    address, company, internet,
    names::{FIRST_NAMES, LAST_NAMES, full_name},
    payment,
};
use crate::{
    arguments::{Arguments, Refusal},
    function::{Function, plain, text, with, word},
    generator::{DIGITS, Generator},
    parameter::{Kind, Parameter, required},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("email", email),
    word("firstName", FIRST_NAMES),
    word("gender", GENDERS),
    word("hobby", HOBBIES),
    word("lastName", LAST_NAMES),
    word("middleName", FIRST_NAMES),
    text("name", full_name),
    word("namePrefix", PREFIXES),
    word("nameSuffix", SUFFIXES),
    plain("person", Kind::Object, person),
    text("phone", phone),
    text("phoneFormatted", |generator| {
        let pattern = generator.one_of(&["###-###-####", "(###)###-####", "1-###-###-####", "###.###.####"]);
        generator.filled(pattern, '#', DIGITS)
    }),
    text("school", school),
    text("ssn", ssn),
    with("teams", OF_TEAMS, Kind::Object, teams),
];

const OF_TEAMS: &[Parameter] = &[required("people", Kind::Texts), required("teams", Kind::Texts)];

/// Genders, as in forms.
pub const GENDERS: Words = words("female, male");
/// Titles before names.
pub const PREFIXES: Words = words("Mr., Mrs., Ms., Dr.");
const SUFFIXES: Words = words("Jr., Sr., II, III, MD, PhD");
const HOBBIES: Words = words(
    "Archery, Astronomy, Baking, Beekeeping, Birdwatching, Calligraphy, Canoeing, Chess, Climbing, Cycling, \
     Dancing, Embroidery, Fencing, Gardening, Hiking, Juggling, Knitting, Model railways, Orienteering, \
     Painting, Photography, Pottery, Reading, Rowing, Sailing, Singing, Skating, Swimming, Table tennis, \
     Woodworking",
);
const KINDS_OF_SCHOOLS: Words =
    words("Academy, College, Grammar School, High School, Institute, Primary School");

/// An address of mail at a host that does not exist: `ada.baker@copper-field.example`.
fn email(generator: &mut Generator) -> String {
    let name = full_name(generator).replace(' ', ".").to_lowercase();
    format!("{name}@{}", internet::domain(generator))
}

/// Ten digits, the first of which is not 0.
fn phone(generator: &mut Generator) -> String {
    generator.integer(1_000_000_000..=9_999_999_999).to_string()
}

/// Nine digits that begin with 9, as no real number of this kind does.
fn ssn(generator: &mut Generator) -> String {
    generator.integer(900_000_000..=999_999_999).to_string()
}

fn school(generator: &mut Generator) -> String {
    format!(
        "{} {}",
        generator.pick(address::CITIES),
        generator.pick(KINDS_OF_SCHOOLS)
    )
}

fn person(generator: &mut Generator) -> Value {
    Value::object([
        ("first_name", generator.pick(FIRST_NAMES).into()),
        ("last_name", generator.pick(LAST_NAMES).into()),
        ("gender", generator.pick(GENDERS).into()),
        ("ssn", ssn(generator).into()),
        ("image", "https://images.example/300/300".into()),
        ("hobby", generator.pick(HOBBIES).into()),
        ("job", company::job(generator)),
        ("address", address::address(generator)),
        ("contact", contact(generator)),
        ("credit_card", payment::card(generator)),
    ])
}

fn contact(generator: &mut Generator) -> Value {
    Value::object([
        ("phone", phone(generator).into()),
        ("email", email(generator).into()),
    ])
}

/// Puts people into teams of the same size, of which the last ones may be smaller or empty.
fn teams(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let (mut people, teams) = (arguments.texts(0)?, arguments.some_texts(1)?);
    generator.shuffle(&mut people);
    let size = people.len().div_ceil(teams.len()).max(1);
    let mut parts = people.chunks(size);
    let of = |team: &str| {
        let members = parts.next().unwrap_or_default().iter();
        (
            team.to_owned().into(),
            Value::list(members.map(|name| (*name).to_owned())),
        )
    };
    Ok(Value::Object(teams.into_iter().map(of).collect()))
}
