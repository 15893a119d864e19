//! Nodes of a page in their order, and the nodes around them.

use std::{collections::HashSet, iter, rc::Rc};

use dom_query::{Matcher, NodeId, NodeRef};

use super::page::Page;

/// The largest number of steps that `end()` can go back. A loop of `next()` must not remember all its steps.
const MAX_HISTORY: usize = 16;

/// Some nodes of one page, each once.
#[derive(Clone)]
pub(super) struct Nodes {
    pub(super) page: Rc<Page>,
    pub(super) ids: Rc<[NodeId]>,
    /// The earlier selections, the latest last.
    history: Vec<Rc<[NodeId]>>,
}

impl Nodes {
    /// The page itself.
    pub(super) fn root(page: Rc<Page>) -> Self {
        let root = page.root().id;
        Self::of(page, [root])
    }

    /// These, which came from nowhere.
    pub(super) fn of(page: Rc<Page>, ids: impl IntoIterator<Item = NodeId>) -> Self {
        Self {
            page,
            ids: ids.into_iter().collect(),
            history: Vec::new(),
        }
    }

    /// `ids` without repetition, which came from these.
    pub(super) fn then(&self, ids: impl IntoIterator<Item = NodeId>) -> Self {
        let mut seen = HashSet::new();
        let forgotten = (self.history.len() + 1).saturating_sub(MAX_HISTORY);
        let remembered = self.history[forgotten..].iter().chain([&self.ids]);
        Self {
            page: Rc::clone(&self.page),
            ids: ids.into_iter().filter(|&id| seen.insert(id)).collect(),
            history: remembered.cloned().collect(),
        }
    }

    /// The selection from which this one was made; empty when it is unknown.
    pub(super) fn back(&self) -> Self {
        let mut history = self.history.clone();
        Self {
            page: Rc::clone(&self.page),
            ids: history.pop().unwrap_or_default(),
            history,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = NodeRef<'_>> {
        self.ids.iter().map(|&id| self.node(id))
    }

    pub(super) fn first(&self) -> Option<NodeRef<'_>> {
        self.iter().next()
    }

    pub(super) fn node(&self, id: NodeId) -> NodeRef<'_> {
        NodeRef::new(id, &self.page.tree)
    }

    /// The descendants that match, in the order of the page for each of the nodes.
    pub(super) fn find(&self, matcher: &Matcher) -> Self {
        let roots: HashSet<NodeId> = self.ids.iter().copied().collect();
        // What is within another node is found there.
        let outermost = self.iter().filter(|node| {
            !node
                .ancestors_it(None)
                .any(|ancestor| roots.contains(&ancestor.id))
        });
        self.then(outermost.flat_map(|node| matching(node, matcher)))
    }

    /// The position that a script means with `index`, where -1 is the last.
    pub(super) fn position(&self, index: i32) -> Option<usize> {
        let index = index as isize;
        let position = if index < 0 {
            self.ids.len().checked_sub(index.unsigned_abs())?
        } else {
            index.unsigned_abs()
        };
        Some(position).filter(|&position| position < self.ids.len())
    }
}

/// The descendants of `node` that match.
pub(super) fn matching(node: NodeRef<'_>, matcher: &Matcher) -> Vec<NodeId> {
    let found = dom_query::Selection::from(node).select_matcher(matcher);
    found.nodes().iter().map(|node| node.id).collect()
}

/// Whether a descendant of `node` matches.
pub(super) fn has_matching(node: NodeRef<'_>, matcher: &Matcher) -> bool {
    dom_query::Selection::from(node)
        .select_single_matcher(matcher)
        .exists()
}

/// The relation of nodes to one node; nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Children,
    /// Children that are texts and comments, too.
    Contents,
    Parent,
    Parents,
    Next,
    NextAll,
    Prev,
    PrevAll,
    /// The siblings, in the order of the page.
    Siblings,
}

impl Relation {
    /// The nodes that relate to `node` in this way.
    pub(super) fn of(self, node: NodeRef<'_>) -> Vec<NodeId> {
        match self {
            Self::Children => elements(node.children_it(false)),
            Self::Contents => node.children_it(false).map(|node| node.id).collect(),
            Self::Parent => elements(node.parent()),
            Self::Parents => elements(node.ancestors_it(None)),
            Self::Next => elements(node.next_element_sibling()),
            Self::NextAll => elements(iter::successors(Some(node), NodeRef::next_sibling).skip(1)),
            Self::Prev => elements(node.prev_element_sibling()),
            Self::PrevAll => elements(iter::successors(Some(node), NodeRef::prev_sibling).skip(1)),
            Self::Siblings => {
                let family = node
                    .parent()
                    .into_iter()
                    .flat_map(|parent| parent.children_it(false));
                elements(family.filter(|sibling| sibling.id != node.id))
            }
        }
    }
}

fn elements<'a>(nodes: impl IntoIterator<Item = NodeRef<'a>>) -> Vec<NodeId> {
    let elements = nodes.into_iter().filter(NodeRef::is_element);
    elements.map(|node| node.id).collect()
}
