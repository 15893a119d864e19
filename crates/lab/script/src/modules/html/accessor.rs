//! What one method of one kind of element reads: an attribute, or something around the element.

use dom_query::{NodeId, NodeRef};
use url::Url;

/// A method that only some elements have, such as `checked()` of inputs.
#[derive(Clone, Copy)]
pub(super) struct Accessor {
    /// The names of the elements.
    pub(super) tags: &'static [&'static str],
    /// The name of the method.
    pub(super) name: &'static str,
    pub(super) reads: Reads,
}

/// What a method reads.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    /// A text, empty without the attribute.
    Text(&'static str),
    /// Whether the attribute is there, whatever its value.
    Presence(&'static str),
    /// A whole number, and the one in place of others.
    Integer(&'static str, i64),
    /// The words of an attribute.
    Words(&'static str),
    /// An address, complete if that of the page is known.
    Address(&'static str),
    /// One of these values; the first of them in place of others.
    Choice(&'static str, &'static [&'static str]),
    /// One of these values; undefined in place of others.
    Option(&'static str, &'static [&'static str]),
    /// The same for all elements.
    Constant(&'static str),
    /// The text of the element.
    Content,
    /// Found by a function of the element and the address of its page.
    Found(fn(NodeRef<'_>, &str) -> Reading),
}

/// What a method gives.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    /// Undefined.
    Nothing,
    Text(String),
    Texts(Vec<String>),
    Truth(bool),
    Number(f64),
    Node(NodeId),
    Nodes(Vec<NodeId>),
}

impl Accessor {
    /// What the method gives for `node` in the page with this address, which may be empty.
    pub(super) fn read(&self, node: NodeRef<'_>, base: &str) -> Reading {
        let text = |name: &str| node.attr_or(name, "").to_string();
        match self.reads {
            Reads::Text(name) => Reading::Text(text(name)),
            Reads::Presence(name) => Reading::Truth(node.has_attr(name)),
            Reads::Integer(name, default) => Reading::Number(integer(node, name, default)),
            Reads::Words(name) => {
                Reading::Texts(text(name).split_ascii_whitespace().map(str::to_owned).collect())
            }
            Reads::Address(name) => Reading::Text(address(node, name, base)),
            Reads::Choice(name, values) => {
                let value = text(name);
                let mut values = values.iter();
                let first = values.next().copied().unwrap_or_default();
                Reading::Text(
                    values
                        .find(|known| **known == value)
                        .copied()
                        .unwrap_or(first)
                        .to_owned(),
                )
            }
            Reads::Option(name, values) => {
                let value = text(name);
                if values.contains(&value.as_str()) {
                    Reading::Text(value)
                } else {
                    Reading::Nothing
                }
            }
            Reads::Constant(value) => Reading::Text(value.to_owned()),
            Reads::Content => Reading::Text(node.text().to_string()),
            Reads::Found(find) => find(node, base),
        }
    }
}

/// The whole number in an attribute.
pub(super) fn integer(node: NodeRef<'_>, name: &str, default: i64) -> f64 {
    let number = node.attr(name).and_then(|text| text.parse::<i64>().ok());
    number.unwrap_or(default) as f64
}

/// The address in an attribute; empty without one.
pub(super) fn address(node: NodeRef<'_>, name: &str, base: &str) -> String {
    let Some(written) = node.attr(name) else {
        return String::new();
    };
    resolved(&written, base).unwrap_or_default()
}

/// An address as seen from a page; as written if that of the page is unknown. `None` if it is none.
pub(super) fn resolved(written: &str, base: &str) -> Option<String> {
    if base.is_empty() {
        return Some(written.to_owned());
    }
    let joined = Url::parse(base).ok()?.join(written).ok()?;
    Some(joined.to_string())
}
