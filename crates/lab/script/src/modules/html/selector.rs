//! Selectors: CSS with `:contains("…")` and `:has(…)`, and the pseudo-classes of forms.

use dom_query::Matcher;

/// Selectors of people are short; the library reads and matches them recursively, on the small stack of a script.
const MAX_BYTES: usize = 1_024;

/// The deepest nesting of pseudo-classes such as `:not(:has(…))`.
const MAX_NESTING: usize = 16;

/// Why a text is not a selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SelectorError {
    #[error(
        "the selector `{0}` is not supported CSS; expected something like `form#login input[name=token]` or \
         `a:contains(\"Next\")`"
    )]
    Syntax(String),
    #[error("a selector of {0} bytes is too long; expected at most {MAX_BYTES}")]
    TooLong(usize),
    #[error("a selector nests parentheses {0} times; expected at most {MAX_NESTING}")]
    TooNested(usize),
}

/// Parses a selector, or several separated by commas.
///
/// # Errors
/// When the selector is invalid.
pub(super) fn parse(selector: &str) -> Result<Matcher, SelectorError> {
    if selector.len() > MAX_BYTES {
        return Err(SelectorError::TooLong(selector.len()));
    }
    let nesting = nesting(selector);
    if nesting > MAX_NESTING {
        return Err(SelectorError::TooNested(nesting));
    }
    Matcher::new(&without_shorthands(selector)).map_err(|_| SelectorError::Syntax(selector.to_owned()))
}

/// Controls that can be disabled (HTML, 4.16.3).
macro_rules! controls {
    () => {
        ":is(button, input, select, textarea, fieldset, optgroup, option)"
    };
}

/// Controls that are.
macro_rules! disabled {
    () => {
        concat!(
            ":is(",
            controls!(),
            "[disabled], fieldset[disabled] :is(button, input, select, textarea))"
        )
    };
}

/// Pseudo-classes for which the library finds nothing, or which it does not know, and what says the same. A page has no
/// state beside its text, so these are all that can be said.
const SHORTHANDS: [(&str, &str); 5] = [
    (
        "checked",
        ":is(input:is([type=checkbox i], [type=radio i])[checked], option[selected])",
    ),
    ("disabled", disabled!()),
    ("enabled", concat!(controls!(), ":not(", disabled!(), ")")),
    ("input", ":is(input, select, textarea, button)"),
    // The library takes the document for the parent of the root.
    ("root", ":is(html)"),
];

/// The selector with [`SHORTHANDS`] written out, outside of strings and attributes.
fn without_shorthands(selector: &str) -> String {
    let mut result = String::with_capacity(selector.len());
    let mut rest = selector;
    let mut quote = None;
    let mut is_attribute = false;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '[' => is_attribute = true,
                ']' => is_attribute = false,
                ':' if !is_attribute => {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '(');
                    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                    let known = SHORTHANDS
                        .iter()
                        .find(|(name, _)| rest[..end].eq_ignore_ascii_case(name));
                    if let Some((_, long)) = known {
                        result.push_str(long);
                        rest = &rest[end..];
                        continue;
                    }
                }
                _ => {}
            },
        }
        result.push(c);
    }
    result
}

/// The largest nesting of parentheses.
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
