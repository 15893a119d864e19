//! The layers of a test: its files, over them the chosen environment, and over it the values of `--overrides`.

use super::Surroundings;
use crate::document::{Document, Lists, Mistakes, Value};

/// The name of the layer in error texts.
const OVERRIDES: &str = "--overrides";

/// Lays the environment and the overrides over the files.
///
/// # Errors
/// The overrides cannot be read.
pub(super) fn lay(mut document: Document, surroundings: &Surroundings<'_>) -> Result<Document, Mistakes> {
    if let Some(name) = &surroundings.environment {
        // An unknown environment is reported by the reader, which knows the others.
        document.overlay_part(&["config"], &["config", "environments", name], Lists::ByPosition);
    }
    let overrides = surroundings.overrides.as_ref();
    let Some(overrides) = overrides
        .map(|text| Document::read(OVERRIDES, text))
        .transpose()?
    else {
        return Ok(document);
    };
    if !matches!(overrides.root().node().value, Value::Map(_)) {
        overrides.root().unexpected(
            "an object as JSON, for example {\"config\": {\"phases\": [{\"duration\": 1, \"arrivalCount\": 1}]}}",
        );
        overrides.finish()?;
    }
    document.overlay(overrides, Lists::Replace);
    Ok(document)
}

/// Whether `--overrides` sets the target, which then replaces that of `--target`.
pub(super) fn overrides_target(document: &Document) -> bool {
    let config = document.root().node().value.get("config");
    let target = config.and_then(|config| config.value.get("target"));
    target.is_some_and(|target| document.file(target.place) == OVERRIDES)
}
