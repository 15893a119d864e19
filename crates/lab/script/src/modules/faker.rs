//! `k6/x/faker`: invented values, from the catalog of `plimsoll-fake`.

use rquickjs::{Class, Ctx, Object, Result};

use self::object::Faker;
use super::module::{Module, differs, same};
use crate::host::Host;

mod conversion;
mod function;
mod object;

pub(super) const MODULE: Module = Module {
    id: "k6/x/faker",
    build,
    api: &[
        same("default"),
        differs(
            "Faker",
            "the words and values are our own, also for a seed; wrong arguments are errors that name the function, the \
             argument and what it should be; texts have 1,048,576 characters at most and lists 100,000 items",
        ),
        same("Faker.call"),
        differs("Faker.address", OWN_WORDS),
        differs("Faker.animal", OWN_WORDS),
        differs("Faker.app", OWN_WORDS),
        differs("Faker.beer", OWN_WORDS),
        differs("Faker.book", "our own words; an author wrote the title"),
        differs(
            "Faker.br",
            "our own words; any mode of brSearchTerm() but those of the documentation is an error",
        ),
        differs("Faker.car", OWN_WORDS),
        differs("Faker.celebrity", OWN_WORDS),
        differs(
            "Faker.color",
            "our own words; niceColors() is a list, as the declarations of k6 say; k6 gives one name",
        ),
        differs("Faker.company", OWN_WORDS),
        differs("Faker.emoji", OWN_WORDS),
        differs("Faker.error", "our own words, as texts; k6 gives objects of Go"),
        differs("Faker.file", OWN_WORDS),
        same("Faker.finance"),
        differs("Faker.food", OWN_WORDS),
        differs(
            "Faker.game",
            "our own words; dice() without sides has dice of six sides, where k6 throws",
        ),
        differs("Faker.hacker", OWN_WORDS),
        differs("Faker.hipster", OWN_WORDS),
        differs(
            "Faker.internet",
            "our own words; hosts, and the host of imageUrl(), end in `.example`, which does not exist",
        ),
        differs("Faker.language", OWN_WORDS),
        differs("Faker.minecraft", OWN_WORDS),
        differs("Faker.movie", OWN_WORDS),
        same("Faker.numbers"),
        differs(
            "Faker.payment",
            "numbers of cards and banks have check digits; unknown types of cards are errors, where k6 takes any type",
        ),
        differs(
            "Faker.person",
            "our own words; addresses of mail end in `.example`, and ssn() begins with 9",
        ),
        differs("Faker.product", "our own words; productUpc() has a check digit"),
        same("Faker.strings"),
        differs(
            "Faker.time",
            "pastTime() and futureTime() are texts, as the declarations of k6 say; dateRange() follows the seed, and its \
             dates without arguments fit any format; quotes in a format are as in Java",
        ),
        differs("Faker.word", OWN_WORDS),
        same("Faker.zen"),
    ],
};

const OWN_WORDS: &str = "our own words";

/// The variable with the seed of the default export.
const SEED: &str = "XK6_FAKER_SEED";

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let seed = Host::of(ctx)
        .program
        .env
        .get(SEED)
        .and_then(|seed| seed.parse().ok());
    let exports = Object::new(ctx.clone())?;
    exports.set(
        "default",
        Class::instance(ctx.clone(), Faker::new(seed.unwrap_or(0)))?,
    )?;
    exports.set("Faker", Class::<Faker>::create_constructor(ctx)?)?;
    Ok(exports)
}

#[cfg(test)]
mod tests;
