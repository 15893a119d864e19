//! Addresses and places.

use crate::{
    arguments::{Arguments, Refusal},
    function::{Function, number, plain, text, with, word},
    generator::Generator,
    parameter::{Kind, Parameter, default},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("address", Kind::Object, address),
    word("city", CITIES),
    text("country", |generator| country(generator).1.to_owned()),
    text("countryAbbreviation", |generator| country(generator).0.to_owned()),
    number("latitude", |generator| degrees(generator, -90.0, 90.0)),
    with(
        "latitudeRange",
        LATITUDES,
        Kind::Number,
        |generator, arguments| degrees_with(generator, arguments, 90.0),
    ),
    number("longitude", |generator| degrees(generator, -180.0, 180.0)),
    with(
        "longitudeRange",
        LONGITUDES,
        Kind::Number,
        |generator, arguments| degrees_with(generator, arguments, 180.0),
    ),
    text("state", |generator| state(generator).1.to_owned()),
    text("stateAbbreviation", |generator| state(generator).0.to_owned()),
    text("street", address_line),
    word("streetName", STREETS),
    text("streetNumber", street_number),
    word("streetPrefix", PREFIXES),
    word("streetSuffix", STREET_KINDS),
    text("zip", zip),
];

const LATITUDES: &[Parameter] = &[
    default("min", Kind::Number, "0"),
    default("max", Kind::Number, "90"),
];
const LONGITUDES: &[Parameter] = &[
    default("min", Kind::Number, "0"),
    default("max", Kind::Number, "180"),
];

/// Cities of all continents.
pub const CITIES: Words = words(
    "Accra, Adelaide, Antwerp, Austin, Bergen, Bogota, Brno, Busan, Cardiff, Cusco, Daegu, Dakar, Durban, \
     Fresno, Geneva, Ghent, Hanoi, Izmir, Kigali, Lagos, Leeds, Lyon, Malmo, Mendoza, Nagoya, Osaka, Porto, \
     Quito, Riga, Tampa, Utrecht, Valencia",
);
/// Codes (ISO 3166-1) and names.
const COUNTRIES: Words = words(
    "AR Argentina, AU Australia, AT Austria, BR Brazil, CA Canada, CL Chile, CO Colombia, CZ Czechia, DK \
     Denmark, EG Egypt, FI Finland, FR France, DE Germany, GH Ghana, GR Greece, IN India, ID Indonesia, IE \
     Ireland, IT Italy, JP Japan, KE Kenya, MX Mexico, NL Netherlands, NZ New Zealand, NO Norway, PE Peru, \
     PL Poland, PT Portugal, ZA South Africa, KR South Korea, ES Spain, SE Sweden, CH Switzerland, TR \
     Turkey, GB United Kingdom, US United States, VN Vietnam",
);
/// The states of the United States.
const STATES: Words = words(
    "AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE \
     Delaware, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY \
     Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS \
     Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New \
     Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA \
     Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT \
     Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming",
);
const STREETS: Words = words(
    "Bridge, Castle, Cedar, Chapel, Church, Garden, Harbor, High, Hill, Lake, Market, Meadow, Mill, \
     Orchard, Park, River, School, Station, Tower, Willow",
);
const STREET_KINDS: Words = words("Avenue, Court, Drive, Lane, Place, Road, Square, Street, Terrace, Way");
const PREFIXES: Words = words("East, Lower, New, North, Old, South, Upper, West");

/// A country: its code and its name.
pub fn country(generator: &mut Generator) -> (&'static str, &'static str) {
    code_and_name(generator, COUNTRIES)
}

/// An American state: its code and its name.
fn state(generator: &mut Generator) -> (&'static str, &'static str) {
    code_and_name(generator, STATES)
}

/// The two parts of a word of these.
pub(super) fn code_and_name(generator: &mut Generator, words: Words) -> (&'static str, &'static str) {
    generator.pick(words).split_once(' ').unwrap_or_default()
}

/// A street: `Mill Road`.
pub fn street(generator: &mut Generator) -> String {
    format!("{} {}", generator.pick(STREETS), generator.pick(STREET_KINDS))
}

/// A number of a house.
pub fn street_number(generator: &mut Generator) -> String {
    generator.integer(1..=9_999).to_string()
}

/// A house: `7 North Mill Road`.
fn address_line(generator: &mut Generator) -> String {
    let (number, street) = (street_number(generator), street(generator));
    if generator.boolean() {
        return format!("{number} {street}");
    }
    format!("{number} {} {street}", generator.pick(PREFIXES))
}

/// An American postal code.
pub fn zip(generator: &mut Generator) -> String {
    generator.digits(5)
}

/// An address with a place on Earth, which have nothing to do with each other.
pub(super) fn address(generator: &mut Generator) -> Value {
    let street = address_line(generator);
    let (city, (_, state), zip) = (generator.pick(CITIES), state(generator), zip(generator));
    Value::object([
        ("address", format!("{street}, {city}, {state} {zip}").into()),
        ("street", street.into()),
        ("city", city.into()),
        ("state", state.into()),
        ("zip", zip.into()),
        ("country", country(generator).1.into()),
        ("latitude", degrees(generator, -90.0, 90.0).into()),
        ("longitude", degrees(generator, -180.0, 180.0).into()),
    ])
}

/// Degrees with six digits after the point, ten centimetres on the ground.
fn degrees(generator: &mut Generator, min: f64, max: f64) -> f64 {
    let degrees = (generator.float(min, max) * 1e6).round() / 1e6;
    degrees.clamp(min, max)
}

fn degrees_with(generator: &mut Generator, arguments: &Arguments<'_>, most: f64) -> Result<Value, Refusal> {
    let (min, max) = (arguments.float(0)?, arguments.float(1)?);
    let all = -most..=most;
    for (position, degrees) in [min, max].into_iter().enumerate() {
        if !all.contains(&degrees) {
            let expected = format!("degrees from -{most} to {most}");
            return Err(arguments.wrong(position, &degrees.to_string(), &expected));
        }
    }
    if min > max {
        return Err(arguments.wrong(0, &min.to_string(), &format!("at most `max`, which is {max}")));
    }
    Ok(degrees(generator, min, max).into())
}
