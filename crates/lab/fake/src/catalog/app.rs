//! Applications.

use super::{company, names, word::WORDS};
use crate::{
    function::{Function, text},
    generator::Generator,
    prose::capitalized,
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("appAuthor", author),
    text("appName", name),
    text("appVersion", version),
];

/// A person or a company.
fn author(generator: &mut Generator) -> String {
    if generator.boolean() {
        names::full_name(generator)
    } else {
        company::name(generator)
    }
}

fn name(generator: &mut Generator) -> String {
    format!("{}{}", capitalized(generator.pick(WORDS)), generator.pick(WORDS))
}

/// A version of Semantic Versioning.
fn version(generator: &mut Generator) -> String {
    let [major, minor, patch] = [1..=5, 0..=20, 0..=20].map(|range| generator.integer(range));
    format!("{major}.{minor}.{patch}")
}
