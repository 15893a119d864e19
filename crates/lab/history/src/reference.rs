//! References to runs: the beginning of an id, a tag, `latest`, `latest~1`.

use thiserror::Error;

/// The newest run.
const LATEST: &str = "latest";

/// The longest tag, in characters. It has to fit into a table.
const LONGEST_TAG: usize = 64;

/// The characters that a tag may have besides letters and digits.
const MARKS: &str = "._/+-";

/// A text that is not a valid tag.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a tag; expected 1 to 64 letters, digits and {MARKS}, without a leading - and other than `latest`, \
     for example release-1.2"
)]
pub struct NoTag(String);

/// Checks a tag. It must not look like another kind of reference.
///
/// # Errors
/// The text is not a valid tag.
pub fn check_tag(text: &str) -> Result<(), NoTag> {
    let n_characters = text.chars().count();
    let is_allowed = |character: char| character.is_alphanumeric() || MARKS.contains(character);
    let is_tag = (1..=LONGEST_TAG).contains(&n_characters)
        && text.chars().all(is_allowed)
        && !text.starts_with('-')
        && text != LATEST;
    if is_tag {
        Ok(())
    } else {
        Err(NoTag(text.to_owned()))
    }
}

/// Whether a reference counts back from the newest run: `latest` and `latest~N`.
pub fn counts_back(reference: &str) -> bool {
    steps_back(reference).is_some()
}

/// The `N` of `latest~N`, and 0 for `latest`. `None` for any other text.
pub(crate) fn steps_back(reference: &str) -> Option<u32> {
    match reference.strip_prefix(LATEST)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_look_like_no_other_name() {
        for (text, expected) in [
            ("release-1.2", true),
            ("main", true),
            ("größe/4", true),
            ("latest", false),
            ("latest~1", false),
            ("a,b", false),
            ("a b", false),
            ("-x", false),
            ("", false),
        ] {
            assert_eq!(check_tag(text).is_ok(), expected, "{text}");
        }
        assert!(check_tag(&"x".repeat(65)).is_err());
    }

    #[test]
    fn the_latest_are_counted_back() {
        for (reference, expected) in [
            ("latest", Some(0)),
            ("latest~0", Some(0)),
            ("latest~12", Some(12)),
            ("latest~", None),
            ("latest~-1", None),
            ("latest1", None),
            ("01JD", None),
        ] {
            assert_eq!(steps_back(reference), expected, "{reference}");
        }
    }
}
