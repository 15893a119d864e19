//! Pages of metrics, for the fuzz targets. Only with the feature `fuzzing`, so not in the product.

use super::{choice::Choice, exposition::Exposition};

/// Samples a page twice, with these wanted metrics, or all: the second sample must find the series of the first one.
pub fn page(text: &str, wanted: Vec<String>) {
    let Ok(page) = Exposition::parse(text) else {
        return;
    };
    let mut choice = Choice::new(wanted);
    let (first, second) = (choice.take(&page), choice.take(&page));
    assert_eq!(first, second);
}
