//! Books, all of them old.

use crate::{
    function::{Function, plain, text, word},
    generator::Generator,
    parameter::Kind,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("book", Kind::Object, |generator| {
        let (title, author) = book(generator);
        Value::object([
            ("title", title.into()),
            ("author", author.into()),
            ("genre", generator.pick(GENRES).into()),
        ])
    }),
    text("bookAuthor", |generator| book(generator).1.to_owned()),
    word("bookGenre", GENRES),
    text("bookTitle", |generator| book(generator).0.to_owned()),
];

/// Titles with their authors.
const BOOKS: Words = words(
    "Anna Karenina by Leo Tolstoy, Around the World in Eighty Days by Jules Verne, Candide by Voltaire, \
     Cranford by Elizabeth Gaskell, Dead Souls by Nikolai Gogol, Dracula by Bram Stoker, Emma by Jane \
     Austen, Faust by Johann Wolfgang von Goethe, Frankenstein by Mary Shelley, Germinal by Emile Zola, \
     Hunger by Knut Hamsun, Ivanhoe by Walter Scott, Jane Eyre by Charlotte Bronte, Kim by Rudyard Kipling, \
     Lord Jim by Joseph Conrad, Madame Bovary by Gustave Flaubert, Middlemarch by George Eliot, Moby-Dick \
     by Herman Melville, Oliver Twist by Charles Dickens, The Time Machine by H. G. Wells, Treasure Island \
     by Robert Louis Stevenson, Walden by Henry David Thoreau",
);
const GENRES: Words = words(
    "Adventure, Biography, Comedy, Crime, Drama, Fantasy, History, Horror, Mystery, Poetry, Romance, \
     Satire, Travel",
);

/// A title and its author.
fn book(generator: &mut Generator) -> (&'static str, &'static str) {
    generator.pick(BOOKS).split_once(" by ").unwrap_or_default()
}
