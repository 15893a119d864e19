//! `Element`: one node of a page.

use std::rc::Rc;

use dom_query::{NodeId, NodeRef};
use rquickjs::{JsLifetime, class::Trace};

use super::page::Page;

mod methods;

#[derive(Clone, Trace, JsLifetime)]
#[rquickjs::class]
pub(crate) struct Element {
    #[qjs(skip_trace)]
    pub(super) page: Rc<Page>,
    #[qjs(skip_trace)]
    pub(super) id: NodeId,
}

impl Element {
    pub(super) fn new(page: &Rc<Page>, id: NodeId) -> Self {
        Self {
            page: Rc::clone(page),
            id,
        }
    }

    pub(super) fn node(&self) -> NodeRef<'_> {
        NodeRef::new(self.id, &self.page.tree)
    }
}
