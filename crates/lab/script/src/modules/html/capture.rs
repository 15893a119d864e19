//! Parts of pages for the captures of Artillery files.

use plimsoll_scenario::artillery::selectors::{Position, Selector};

use super::{
    page::{PageReader, pieces},
    selector,
};

/// A selector that was understood.
#[derive(Debug)]
pub struct PageSelector(String);

impl PageSelector {
    /// Reads a selector.
    ///
    /// # Errors
    /// A message that says why the selector is invalid.
    pub fn new(text: &str) -> Result<Self, String> {
        // Matchers stay on their thread, so that each capture makes its own.
        selector::parse(text).map_err(|error| error.to_string())?;
        Ok(Self(text.to_owned()))
    }
}

impl Selector for PageSelector {
    fn find(&self, page: &str, position: Position, attribute: Option<&str>) -> Option<String> {
        let matcher = selector::parse(&self.0).ok()?;
        let mut reader = PageReader::new();
        for piece in pieces(page) {
            reader.read(piece).ok()?;
        }
        let document = reader.finish();
        let found = document.select_matcher(&matcher);
        let nodes = found.nodes();
        let node = nodes.get(position.among(nodes.len())?)?;
        match attribute {
            Some(name) => node.attr(name).map(|value| value.to_string()),
            None => Some(node.text().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_pages_are_found() {
        let page = "<ul><li><a href=/1>one</a><li><a href=/2>two <b>2</b></a></ul><input name=token value=t>";
        let check = |selector: &str, position, attribute, expected: Option<&str>| {
            let found = PageSelector::new(selector)
                .unwrap()
                .find(page, position, attribute);
            assert_eq!(found.as_deref(), expected, "{selector}");
        };
        check("a", Position::At(0), Some("href"), Some("/1"));
        check("a", Position::Last, Some("href"), Some("/2"));
        check("a", Position::At(1), None, Some("two 2"));
        check("a", Position::At(2), Some("href"), None);
        check("input[name=token]", Position::Random, Some("value"), Some("t"));
        check("a", Position::At(0), Some("class"), None);
        check("p", Position::Random, None, None);
        assert!(PageSelector::new("a[").is_err());
    }

    #[test]
    fn pages_out_of_bounds_have_no_parts() {
        let page = "<div>".repeat(5_000);
        let found = PageSelector::new("div")
            .unwrap()
            .find(&page, Position::At(0), None);
        assert_eq!(found, None);
    }
}
