//! A script's argument that chooses nodes: a selector, other nodes, or a function.

use std::{collections::HashSet, rc::Rc};

use dom_query::{Matcher, NodeId};
use rquickjs::{Class, Ctx, Exception, Function, Result, Value};

use super::{
    element::Element,
    matcher::matcher,
    nodes::{Nodes, has_matching},
    page::Page,
    selection::Selection,
};
use crate::{host::Host, modules::k6};

pub(super) enum Criterion<'js> {
    Selector(Matcher),
    /// These nodes; empty when they are of another page.
    Nodes(HashSet<NodeId>),
    /// A function of the index and the node.
    Function(Function<'js>),
}

impl<'js> Criterion<'js> {
    /// Reads the argument of `method`.
    ///
    /// # Errors
    /// A TypeError when the argument is not a criterion.
    pub(super) fn read(ctx: &Ctx<'js>, page: &Rc<Page>, value: &Value<'js>, method: &str) -> Result<Self> {
        if let Some(text) = value.as_string() {
            return Ok(Self::Selector(matcher(ctx, &text.to_string()?)?));
        }
        if let Ok(selection) = Class::<Selection>::from_value(value) {
            let nodes = &selection.borrow().nodes;
            let is_same = Rc::ptr_eq(&nodes.page, page);
            let ids = nodes.ids.iter().copied().filter(|_| is_same);
            return Ok(Self::Nodes(ids.collect()));
        }
        if let Ok(element) = Class::<Element>::from_value(value) {
            let element = element.borrow();
            let id = Some(element.id).filter(|_| Rc::ptr_eq(&element.page, page));
            return Ok(Self::Nodes(id.into_iter().collect()));
        }
        if let Some(function) = value.as_function() {
            return Ok(Self::Function(function.clone()));
        }
        let text = format!(
            "{method}() was given {}; expected a selector such as 'a[href]', a Selection, an Element or a function",
            value.type_name()
        );
        Err(Exception::throw_type(ctx, &text))
    }

    /// As [`Self::read`], for an argument that need not be there.
    pub(super) fn read_optional(
        ctx: &Ctx<'js>,
        page: &Rc<Page>,
        value: Option<&Value<'js>>,
        method: &str,
    ) -> Result<Option<Self>> {
        value
            .filter(|value| !value.is_undefined() && !value.is_null())
            .map(|value| Self::read(ctx, page, value, method))
            .transpose()
    }

    /// Whether it holds for a node, which is the `index`th.
    ///
    /// # Errors
    /// What its function threw, or that the script has to end.
    pub(super) fn holds(&self, ctx: &Ctx<'js>, page: &Rc<Page>, index: usize, id: NodeId) -> Result<bool> {
        Host::of(ctx).take_turns(ctx)?;
        match self {
            Self::Selector(matcher) => Ok(page.tree.get(&id).is_some_and(|node| node.is_match(matcher))),
            Self::Nodes(ids) => Ok(ids.contains(&id)),
            Self::Function(function) => {
                let node = Selection::new(Nodes::of(Rc::clone(page), [id]));
                let answer: Value<'js> = function.call((index, node))?;
                Ok(k6::is_truthy(&answer))
            }
        }
    }

    /// The descendants of `nodes` for which it holds.
    pub(super) fn within(&self, ctx: &Ctx<'js>, nodes: &Nodes) -> Result<Nodes> {
        if let Self::Selector(matcher) = self {
            return Ok(nodes.find(matcher));
        }
        let all = nodes.find(&matcher(ctx, "*")?);
        let chosen = self.choose(ctx, &all, true)?;
        Ok(nodes.then(chosen))
    }

    /// The nodes for which it holds, or does not hold.
    pub(super) fn choose(&self, ctx: &Ctx<'js>, nodes: &Nodes, wanted: bool) -> Result<Vec<NodeId>> {
        let mut chosen = Vec::new();
        for (index, &id) in nodes.ids.iter().enumerate() {
            if self.holds(ctx, &nodes.page, index, id)? == wanted {
                chosen.push(id);
            }
        }
        Ok(chosen)
    }

    /// Whether it holds for a descendant of a node.
    pub(super) fn is_within(&self, ctx: &Ctx<'js>, nodes: &Nodes, id: NodeId) -> Result<bool> {
        Host::of(ctx).take_turns(ctx)?;
        match self {
            Self::Selector(matcher) => Ok(has_matching(nodes.node(id), matcher)),
            _ => Ok(!self
                .within(ctx, &Nodes::of(Rc::clone(&nodes.page), [id]))?
                .ids
                .is_empty()),
        }
    }
}
