//! From the text of a page to its tree, with bounds: the text is a server's answer.

use std::{cell::Cell, ops::Deref};

use dom_query::{Document, NodeId};
use html5ever::{
    ParseOpts,
    driver::Parser,
    interface::Tracer,
    tendril::{StrTendril, TendrilSink as _},
    tree_builder::TreeBuilderOpts,
};

use crate::native_memory::Held;

/// Elements that may be open at once, those of text formatting (`b`, `font` …) counted twice. The parser looks through
/// them for each tag, so that without a bound, a megabyte of `<div>` would take minutes. Browsers stop at 512.
const MAX_OPEN: usize = 1_024;

/// Nodes of a page. Formatting that is never closed is repeated in each paragraph: nodes can be many more than bytes.
const MAX_NODES: usize = 1 << 18;

/// The number of bytes between checks of the bounds: at most some hundred tags.
const PIECE_BYTES: usize = 1_024;

/// Why a text is not read as a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PageError {
    #[error("the page nests elements too deeply: more than {MAX_OPEN} are open at once; is it really HTML?")]
    TooDeep,
    #[error(
        "the page is too large: more than {MAX_NODES} elements and texts; search res.body with a regular expression \
         instead"
    )]
    TooLarge,
}

/// The memory of a page's node without its text: the tree's part and the names of attributes.
const NODE_BYTES: usize = 200;

/// A page that was read.
pub(crate) struct Page {
    document: Document,
    address: String,
    _held: Held,
}

impl Page {
    /// `address` is where the page comes from; empty if that is unknown.
    pub(super) fn new(document: Document, address: String, held: Held) -> Self {
        Self {
            document,
            address,
            _held: held,
        }
    }
}

impl Page {
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

impl Deref for Page {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.document
    }
}

/// The approximate memory of a page whose source has this number of bytes.
pub(super) fn size_of(document: &Document, n_source_bytes: usize) -> usize {
    document.tree.len() * NODE_BYTES + n_source_bytes
}

/// Reads one page, piece by piece.
pub(super) struct PageReader {
    parser: Parser<Document>,
}

impl PageReader {
    pub(super) fn new() -> Self {
        let opts = ParseOpts {
            tree_builder: TreeBuilderOpts {
                // What is in <noscript> is text, as for k6.
                scripting_enabled: true,
                ..TreeBuilderOpts::default()
            },
            ..ParseOpts::default()
        };
        Self {
            parser: html5ever::parse_document(Document::default(), opts),
        }
    }

    /// Reads a [piece](pieces) of the text.
    ///
    /// # Errors
    /// When the page is out of bounds.
    pub(super) fn read(&mut self, piece: &str) -> Result<(), PageError> {
        self.parser.process(StrTendril::from_slice(piece));
        let builder = &self.parser.tokenizer.sink;
        builder.sink.errors.borrow_mut().clear();
        let open = Count(Cell::new(0));
        builder.trace_handles(&open);
        if open.0.get() > MAX_OPEN {
            return Err(PageError::TooDeep);
        }
        if builder.sink.tree.len() > MAX_NODES {
            return Err(PageError::TooLarge);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Document {
        let page = self.parser.finish();
        unfold_templates(&page);
        page
    }
}

/// The text in pieces of about [`PIECE_BYTES`].
pub(super) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.ceil_char_boundary(PIECE_BYTES));
        text = rest;
        Some(piece).filter(|piece| !piece.is_empty())
    })
}

/// Moves the content of each `<template>` into the element. It is not a child in the DOM, but it is in k6, and
/// scripts look into the templates of Turbo streams.
fn unfold_templates(page: &Document) {
    let mut unsearched = vec![page.root().id];
    while let Some(root) = unsearched.pop() {
        let ids: Vec<NodeId> = page.tree.descendant_ids_of_it(&root).collect();
        for id in ids {
            let contents = page
                .tree
                .get(&id)
                .and_then(|node| node.element_ref()?.template_contents);
            if let Some(contents) = contents {
                page.tree.reparent_children_of(&contents, Some(id));
                unsearched.push(id);
            }
        }
    }
}

/// Counts the open elements of the parser.
struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = NodeId;

    fn trace_handle(&self, _node: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}
