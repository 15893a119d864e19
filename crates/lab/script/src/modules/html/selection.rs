//! `Selection`: some nodes of a page, read as with jQuery.

use rquickjs::{JsLifetime, class::Trace};

use super::nodes::Nodes;

mod methods;

#[derive(Clone, Trace, JsLifetime)]
#[rquickjs::class]
pub(crate) struct Selection {
    #[qjs(skip_trace)]
    pub(super) nodes: Nodes,
}

impl Selection {
    pub(super) fn new(nodes: Nodes) -> Self {
        Self { nodes }
    }
}
