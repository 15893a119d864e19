//! Selectors of scripts, whose mistakes are exceptions.

use dom_query::Matcher;
use rquickjs::{Ctx, Exception, Result};

use super::selector;

/// Parses a selector from a script.
///
/// # Errors
/// An exception when the selector is invalid.
pub(super) fn matcher(ctx: &Ctx<'_>, selector: &str) -> Result<Matcher> {
    selector::parse(selector).map_err(|error| Exception::throw_syntax(ctx, &error.to_string()))
}
