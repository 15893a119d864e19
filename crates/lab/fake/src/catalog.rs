//! The catalog: all categories with their functions, under the names that xk6-faker has.

pub mod address;
mod animal;
mod app;
mod beer;
mod book;
mod brazil;
mod car;
mod celebrity;
pub mod color;
pub mod company;
mod emoji;
mod error;
mod file;
mod finance;
mod food;
mod game;
mod hacker;
mod hipster;
pub mod internet;
mod language;
mod minecraft;
mod movie;
pub mod names;
mod numbers;
pub mod payment;
pub mod person;
pub mod product;
pub mod strings;
pub mod time;
pub mod word;

use crate::function::Function;

/// Functions that belong together.
#[derive(Debug)]
pub struct Category {
    /// The name: `person`.
    pub name: &'static str,
    /// What its functions invent, in words.
    pub about: &'static str,
    /// The functions in the order of their names, in tables that follow one another.
    tables: &'static [&'static [Function]],
}

impl Category {
    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = &'static Function> + use<> {
        self.tables.iter().copied().flatten()
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&'static Function> {
        self.functions().find(|function| function.name == name)
    }
}

const fn category(
    name: &'static str,
    about: &'static str,
    tables: &'static [&'static [Function]],
) -> Category {
    Category { name, about, tables }
}

/// All categories in the order of their names.
pub static CATEGORIES: &[Category] = &[
    category("address", "addresses and places", &[address::FUNCTIONS]),
    category("animal", "animals and the names of pets", &[animal::FUNCTIONS]),
    category("app", "applications", &[app::FUNCTIONS]),
    category("beer", "beers and their ingredients", &[beer::FUNCTIONS]),
    category("book", "books", &[book::FUNCTIONS]),
    category("br", "numbers and places of Brazil", &[brazil::FUNCTIONS]),
    category("car", "cars", &[car::FUNCTIONS]),
    category("celebrity", "famous people", &[celebrity::FUNCTIONS]),
    category("color", "colors", &[color::FUNCTIONS]),
    category("company", "companies and jobs", &[company::FUNCTIONS]),
    category("emoji", "emojis", &[emoji::FUNCTIONS]),
    category("error", "texts of errors", &[error::FUNCTIONS]),
    category("file", "kinds of files", &[file::FUNCTIONS]),
    category("finance", "numbers of securities", &[finance::FUNCTIONS]),
    category("food", "food and drinks", &[food::FUNCTIONS]),
    category("game", "games", &[game::FUNCTIONS]),
    category("hacker", "words of computing", &[hacker::FUNCTIONS]),
    category("hipster", "fashionable words", &[hipster::FUNCTIONS]),
    category("internet", "hosts, browsers and accounts", &[internet::FUNCTIONS]),
    category("language", "languages", &[language::FUNCTIONS]),
    category("minecraft", "things in Minecraft", &[minecraft::FUNCTIONS]),
    category("movie", "films", &[movie::FUNCTIONS]),
    category("numbers", "numbers", &[numbers::FUNCTIONS]),
    category("payment", "cards, accounts and prices", &[payment::FUNCTIONS]),
    category("person", "people", &[person::FUNCTIONS]),
    category("product", "goods", &[product::FUNCTIONS]),
    category(
        "strings",
        "texts by pattern, length and choice",
        &[strings::FUNCTIONS],
    ),
    category("time", "dates and time zones", &[time::FUNCTIONS]),
    category("word", "words, sentences and paragraphs", word::TABLES),
];

/// The category of this name.
pub fn category_of(name: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.name == name)
}

/// All functions of all categories.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    CATEGORIES.iter().flat_map(Category::functions)
}

/// The function of this name, whatever its category.
pub fn function(name: &str) -> Option<&'static Function> {
    functions().find(|function| function.name == name)
}
