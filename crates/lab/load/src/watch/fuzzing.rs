//! Pages of metrics for the fuzz targets. Not in the product: it takes the feature `fuzzing`.

use super::{choice::Choice, exposition::Exposition};

/// Reads a page twice, as the sampler does, with these metrics wanted, or all: the second look finds what the first one
/// found.
pub fn page(text: &str, wanted: Vec<String>) {
    let Ok(page) = Exposition::parse(text) else {
        return;
    };
    let mut choice = Choice::new(wanted);
    let (first, second) = (choice.take(&page), choice.take(&page));
    assert_eq!(first, second);
}
