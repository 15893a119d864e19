//! Dates and time zones.

use ::time::UtcDateTime;

use crate::{
    arguments::{Arguments, Refusal},
    date_format::Format,
    function::{Function, number, text, with, word},
    generator::Generator,
    parameter::{Kind, Parameter, default, optional},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    with("date", OF_DATE, Kind::Text, date),
    with("dateRange", OF_RANGE, Kind::Text, date_in_range),
    number("day", |generator| generator.integer(1..=31) as f64),
    text("futureTime", |generator| {
        let distance = generator.integer(1..=HALF_A_DAY);
        iso(seconds_of(generator) + distance)
    }),
    number("hour", |generator| generator.integer(0..=23) as f64),
    number("minute", |generator| generator.integer(0..=59) as f64),
    number("month", |generator| generator.integer(1..=12) as f64),
    word("monthString", MONTHS),
    number("nanosecond", |generator| {
        generator.integer(0..=999_999_999) as f64
    }),
    text("pastTime", |generator| {
        let distance = generator.integer(1..=HALF_A_DAY);
        iso(seconds_of(generator) - distance)
    }),
    number("second", |generator| generator.integer(0..=59) as f64),
    text("timezone", |generator| generator.one_of(ZONES).name.to_owned()),
    text("timezoneAbbreviation", |generator| {
        generator.one_of(ZONES).abbreviation.to_owned()
    }),
    text("timezoneFull", |generator| generator.one_of(ZONES).full()),
    number("timezoneOffset", |generator| generator.one_of(ZONES).hours()),
    text("timezoneRegion", |generator| {
        generator.one_of(ZONES).region.to_owned()
    }),
    word("weekday", WEEKDAYS),
    number("year", |generator| year(generator) as f64),
];

const OF_DATE: &[Parameter] = &[default("format", Kind::Text, "RFC3339")];
const OF_RANGE: &[Parameter] = &[
    optional("startdate", Kind::Text),
    optional("enddate", Kind::Text),
    default("format", Kind::Text, "yyyy-MM-dd"),
];

/// Twelve hours in seconds, the largest distance of past and future times, as in gofakeit.
const HALF_A_DAY: i64 = 12 * 3600;

/// The beginning of 1900 in seconds since 1970.
const BEGIN_OF_1900: i64 = -2_208_988_800;

/// The longest text of a date or of its format, in bytes.
const LONGEST: usize = 200;

/// The months.
pub const MONTHS: Words =
    words("January, February, March, April, May, June, July, August, September, October, November, December");
/// The days of a week.
pub const WEEKDAYS: Words = words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday");

/// A time zone without summer time.
#[derive(Clone, Copy)]
struct Zone {
    name: &'static str,
    abbreviation: &'static str,
    region: &'static str,
    /// East of Greenwich.
    minutes: i64,
}

impl Zone {
    fn hours(self) -> f64 {
        self.minutes as f64 / 60.0
    }

    /// The offset and the city: `(UTC+01:00) Berlin`.
    fn full(self) -> String {
        let (sign, minutes) = (if self.minutes < 0 { '-' } else { '+' }, self.minutes.abs());
        let (_, city) = self.region.rsplit_once('/').unwrap_or_default();
        format!(
            "(UTC{sign}{:02}:{:02}) {}",
            minutes / 60,
            minutes % 60,
            city.replace('_', " ")
        )
    }
}

const fn zone(name: &'static str, abbreviation: &'static str, region: &'static str, minutes: i64) -> Zone {
    Zone {
        name,
        abbreviation,
        region,
        minutes,
    }
}

const ZONES: &[Zone] = &[
    zone("Hawaii Standard Time", "HST", "Pacific/Honolulu", -600),
    zone("Alaska Standard Time", "AKST", "America/Anchorage", -540),
    zone("Pacific Standard Time", "PST", "America/Los_Angeles", -480),
    zone("Mountain Standard Time", "MST", "America/Denver", -420),
    zone("Central Standard Time", "CST", "America/Chicago", -360),
    zone("Eastern Standard Time", "EST", "America/New_York", -300),
    zone("Atlantic Standard Time", "AST", "America/Halifax", -240),
    zone("Newfoundland Standard Time", "NST", "America/St_Johns", -210),
    zone("Brasilia Standard Time", "BRT", "America/Sao_Paulo", -180),
    zone("Azores Standard Time", "AZOT", "Atlantic/Azores", -60),
    zone("Greenwich Mean Time", "GMT", "Europe/London", 0),
    zone("Central European Time", "CET", "Europe/Berlin", 60),
    zone("Eastern European Time", "EET", "Europe/Helsinki", 120),
    zone("South Africa Standard Time", "SAST", "Africa/Johannesburg", 120),
    zone("East Africa Time", "EAT", "Africa/Nairobi", 180),
    zone("Gulf Standard Time", "GST", "Asia/Dubai", 240),
    zone("Pakistan Standard Time", "PKT", "Asia/Karachi", 300),
    zone("India Standard Time", "IST", "Asia/Kolkata", 330),
    zone("Nepal Standard Time", "NPT", "Asia/Kathmandu", 345),
    zone("Indochina Time", "ICT", "Asia/Bangkok", 420),
    zone("China Standard Time", "CST", "Asia/Shanghai", 480),
    zone("Japan Standard Time", "JST", "Asia/Tokyo", 540),
    zone(
        "Australian Eastern Standard Time",
        "AEST",
        "Australia/Sydney",
        600,
    ),
    zone("New Zealand Standard Time", "NZST", "Pacific/Auckland", 720),
];

/// A year from 1900 to this one.
pub(super) fn year(generator: &mut Generator) -> i64 {
    let most = this_year(generator);
    generator.integer(1900..=most)
}

pub(super) fn this_year(generator: &Generator) -> i64 {
    moment(seconds_of(generator), 0).year().into()
}

/// The time of the generator in seconds since 1970.
fn seconds_of(generator: &Generator) -> i64 {
    i64::try_from(generator.now().as_secs()).unwrap_or(i64::MAX / 2)
}

/// A moment; one that no calendar has becomes the last of the year 9999.
fn moment(seconds: i64, nanoseconds: i64) -> UtcDateTime {
    let nanoseconds = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    UtcDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap_or(UtcDateTime::MAX)
}

/// A moment in the form of ISO 8601 and RFC 3339: `2026-11-26T15:19:10Z`.
fn iso(seconds: i64) -> String {
    Format::named("RFC3339").of(moment(seconds, 0))
}

/// A moment from 1900 until now.
fn date(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let format = Format::named(arguments.text(0, LONGEST)?);
    let now = seconds_of(generator);
    let moment = moment(
        generator.integer(BEGIN_OF_1900..=now),
        generator.integer(0..=999_999_999),
    );
    Ok(format.of(moment).into())
}

/// A moment between two, which are in the same format; without them, between 1970 and now.
fn date_in_range(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let text = arguments.text(2, LONGEST)?;
    let format = Format::named(text);
    let read = |position: usize, otherwise: i64| -> Result<i64, Refusal> {
        let Some(given) = arguments.optional_text(position, LONGEST)? else {
            return Ok(otherwise);
        };
        match format.read(given) {
            Some(moment) => Ok(moment.unix_timestamp()),
            None => Err(arguments.wrong(position, given, &format!("a date in the format {text:?}"))),
        }
    };
    let (start, end) = (read(0, 0)?, read(1, seconds_of(generator))?);
    let seconds = generator.integer(start.min(end)..=end.max(start));
    Ok(format.of(moment(seconds, 0)).into())
}
