//! The parts of the addresses in links.

use dom_query::NodeRef;

use super::{
    accessor::{Reading, address},
    reference::Reference,
};

/// The address of a `<base>`: that of the page without one.
pub(super) fn href_of_base(node: NodeRef<'_>, base: &str) -> Reading {
    if node.has_attr("href") {
        Reading::Text(address(node, "href", base))
    } else {
        Reading::Text(base.to_owned())
    }
}

fn of_link(node: NodeRef<'_>, base: &str, part: impl FnOnce(Reference<'_>) -> String) -> Reading {
    let address = address(node, "href", base);
    Reading::Text(part(Reference::of(&address)))
}

fn with_sign(sign: char, part: &str) -> String {
    if part.is_empty() {
        String::new()
    } else {
        format!("{sign}{part}")
    }
}

/// The fragment of a link, with its `#`.
pub(super) fn hash(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| with_sign('#', parts.fragment))
}

/// The query of a link, with its `?`.
pub(super) fn search(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| with_sign('?', parts.query))
}

/// The host of a link, with a port that is not that of the scheme.
pub(super) fn host(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.host().to_owned())
}

/// The host of a link.
pub(super) fn hostname(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.host_and_port().0.to_owned())
}

/// The port of a link.
pub(super) fn port(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.host_and_port().1.to_owned())
}

/// The user in a link.
pub(super) fn username(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.username.to_owned())
}

/// The password in a link.
pub(super) fn password(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.password.to_owned())
}

/// The path of a link.
pub(super) fn pathname(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| parts.path.to_owned())
}

/// The scheme of a link; a colon without one.
pub(super) fn protocol(node: NodeRef<'_>, base: &str) -> Reading {
    of_link(node, base, |parts| match parts.scheme {
        "" => ":".to_owned(),
        scheme => scheme.to_owned(),
    })
}

/// Scheme and host of a link.
pub(super) fn origin(node: NodeRef<'_>, base: &str) -> Reading {
    let whole = address(node, "href", base);
    of_link(node, base, |parts| match parts.scheme {
        "" => String::new(),
        "file" => whole,
        scheme => format!("{scheme}://{}", parts.host),
    })
}
