//! Selectors: CSS with jQuery's `:contains("…")` and `:has(…)`.

use dom_query::Matcher;

/// Selectors of people are short; the library reads and matches them recursively, on the small stack of a script.
const MAX_BYTES: usize = 1_024;

/// Likewise: `:not(:has(…))` within each other.
const MAX_NESTING: usize = 16;

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SelectorError {
    #[error(
        "the selector `{0}` cannot be understood; expected CSS, for example `form#login input[name=token]` or \
         `a:contains(\"Next\")`"
    )]
    Syntax(String),
    #[error("a selector of {0} bytes is too long; expected at most {MAX_BYTES}")]
    TooLong(usize),
    #[error("a selector nests parentheses {0} times; expected at most {MAX_NESTING}")]
    TooNested(usize),
}

/// Reads a selector, or several that are separated by commas.
///
/// # Errors
/// When it is none.
pub(super) fn parse(selector: &str) -> Result<Matcher, SelectorError> {
    if selector.len() > MAX_BYTES {
        return Err(SelectorError::TooLong(selector.len()));
    }
    let nesting = nesting(selector);
    if nesting > MAX_NESTING {
        return Err(SelectorError::TooNested(nesting));
    }
    Matcher::new(selector).map_err(|_| SelectorError::Syntax(selector.to_owned()))
}

/// How many parentheses are open at most.
fn nesting(selector: &str) -> usize {
    let mut open = 0_usize;
    let depths = selector.bytes().map(|byte| {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        open
    });
    depths.max().unwrap_or(0)
}
