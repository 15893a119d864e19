//! The methods of the DOM that k6 has for all elements.

use std::rc::Rc;

use dom_query::{NodeData, NodeId, NodeRef};
use rquickjs::{Class, Ctx, Function, Object, Result};

use super::{
    super::{
        handed::Handed,
        matcher::matcher,
        nodes::{Nodes, Relation, matching},
        selection::Selection,
    },
    Element,
};
use crate::arguments::Text;

/// The namespace of the elements of pages, and in k6 of attributes.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// A method that gives a text.
fn answers<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Function<'js>> {
    let text = text.to_owned();
    Function::new(ctx.clone(), move || text.clone())
}

impl Element {
    fn other(&self, node: Option<NodeRef<'_>>) -> Option<Handed> {
        node.map(|node| Handed(Self::new(&self.page, node.id)))
    }

    fn all(&self, ids: Vec<NodeId>) -> Vec<Handed> {
        ids.into_iter()
            .map(|id| Handed(Self::new(&self.page, id)))
            .collect()
    }

    fn descendants(&self, ctx: &Ctx<'_>, selector: &str) -> Result<Vec<NodeId>> {
        Ok(matching(self.node(), &matcher(ctx, selector)?))
    }

    fn attr(&self, name: &str) -> Option<String> {
        self.node().attr(name).map(|value| value.to_string())
    }

    fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.page, &other.page) && self.id == other.id
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Element {
    /// The name in lower case; `#text` and the like for other nodes.
    fn node_name(&self) -> String {
        let name = self.node().node_name().map(|name| name.to_string());
        name.unwrap_or_else(|| {
            let node = self.node();
            match node.query(|node| node.data.clone()) {
                Some(NodeData::Text { .. }) => "#text".to_owned(),
                Some(NodeData::Comment { .. }) => "#comment".to_owned(),
                Some(NodeData::Doctype { name, .. }) => name.to_string(),
                _ => "#document".to_owned(),
            }
        })
    }

    /// The number that the DOM gives the kind of node.
    fn node_type(&self) -> u8 {
        let kind = self.node().query(|node| match node.data {
            NodeData::Element(_) => 1,
            NodeData::Text { .. } => 3,
            NodeData::ProcessingInstruction { .. } => 7,
            NodeData::Comment { .. } => 8,
            NodeData::Document => 9,
            NodeData::Doctype { .. } => 10,
            NodeData::Fragment => 11,
        });
        kind.unwrap_or_default()
    }

    fn node_value(&self) -> Option<String> {
        let text = self.node().query(|node| match &node.data {
            NodeData::Text { contents } | NodeData::Comment { contents } => Some(contents.to_string()),
            _ => None,
        });
        text.flatten()
    }

    fn id(&self) -> String {
        self.node().attr_or("id", "").to_string()
    }

    fn class_name(&self) -> Option<String> {
        self.attr("class")
    }

    fn class_list(&self) -> Vec<String> {
        let classes = self.node().attr_or("class", "");
        classes.split_ascii_whitespace().map(str::to_owned).collect()
    }

    fn lang(&self) -> Option<String> {
        self.attr("lang")
    }

    fn get_attribute(&self, Text(name): Text) -> Option<String> {
        self.attr(&name)
    }

    fn get_attribute_node<'js>(&self, ctx: Ctx<'js>, Text(name): Text) -> Result<Option<Object<'js>>> {
        let name = name.to_ascii_lowercase();
        let value = self.attr(&name);
        value.map(|value| self.attribute(&ctx, &name, &value)).transpose()
    }

    fn has_attribute(&self, Text(name): Text) -> bool {
        self.node().has_attr(&name.to_ascii_lowercase())
    }

    fn has_attributes(&self) -> bool {
        !self.node().attrs().is_empty()
    }

    /// The attributes by their names.
    fn attributes<'js>(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let attributes = Object::new(ctx.clone())?;
        for attribute in self.node().attrs() {
            let name = attribute.name.local.as_ref();
            attributes.set(name, self.attribute(&ctx, name, &attribute.value)?)?;
        }
        Ok(attributes)
    }

    #[qjs(rename = "innerHTML")]
    fn inner_html(&self) -> Option<String> {
        self.node().try_inner_html().map(|html| html.to_string())
    }

    fn text_content(&self) -> String {
        self.node().text().to_string()
    }

    fn child_element_count(&self) -> usize {
        Relation::Children.of(self.node()).len()
    }

    fn children(&self) -> Vec<Handed> {
        self.all(Relation::Children.of(self.node()))
    }

    fn child_nodes(&self) -> Vec<Handed> {
        self.all(Relation::Contents.of(self.node()))
    }

    fn has_child_nodes(&self) -> bool {
        self.node().first_child().is_some()
    }

    fn first_child(&self) -> Option<Handed> {
        self.other(self.node().first_child())
    }

    fn last_child(&self) -> Option<Handed> {
        self.other(self.node().last_child())
    }

    fn first_element_child(&self) -> Option<Handed> {
        self.other(self.node().first_element_child())
    }

    fn last_element_child(&self) -> Option<Handed> {
        let children = self.node().children_it(true);
        self.other(children.into_iter().find(NodeRef::is_element))
    }

    fn next_sibling(&self) -> Option<Handed> {
        self.other(self.node().next_sibling())
    }

    fn previous_sibling(&self) -> Option<Handed> {
        self.other(self.node().prev_sibling())
    }

    fn next_element_sibling(&self) -> Option<Handed> {
        self.other(self.node().next_element_sibling())
    }

    fn previous_element_sibling(&self) -> Option<Handed> {
        self.other(self.node().prev_element_sibling())
    }

    fn parent_node(&self) -> Option<Handed> {
        self.other(self.node().parent())
    }

    fn parent_element(&self) -> Option<Handed> {
        self.other(self.node().parent().filter(NodeRef::is_element))
    }

    fn owner_document(&self) -> Handed {
        Handed(Self::new(&self.page, self.page.root().id))
    }

    /// A node contains itself.
    fn contains<'js>(&self, other: Class<'js, Element>) -> bool {
        let other = other.borrow();
        let is_ancestor = || other.node().ancestors_it(None).any(|node| node.id == self.id);
        self.is_same(&other) || (Rc::ptr_eq(&self.page, &other.page) && is_ancestor())
    }

    fn is_same_node<'js>(&self, other: Class<'js, Element>) -> bool {
        self.is_same(&other.borrow())
    }

    /// Whether both are written alike.
    fn is_equal_node<'js>(&self, other: Class<'js, Element>) -> bool {
        self.node().try_html() == other.borrow().node().try_html()
    }

    /// A selection of this element alone.
    fn selection(&self) -> Selection {
        Selection::new(Nodes::of(Rc::clone(&self.page), [self.id]))
    }

    #[qjs(rename = "namespaceURI")]
    fn namespace_uri(&self) -> String {
        let of_element = self
            .node()
            .element_ref()
            .map(|element| element.name.ns.to_string());
        of_element.unwrap_or_else(|| XHTML.to_owned())
    }

    fn is_default_namespace(&self) -> bool {
        self.namespace_uri() == XHTML
    }

    fn matches(&self, ctx: Ctx<'_>, Text(selector): Text) -> Result<bool> {
        Ok(self.node().is_match(&matcher(&ctx, &selector)?))
    }

    fn query_selector(&self, ctx: Ctx<'_>, Text(selector): Text) -> Result<Option<Handed>> {
        let found = self.descendants(&ctx, &selector)?;
        Ok(self.all(found).into_iter().next())
    }

    fn query_selector_all(&self, ctx: Ctx<'_>, Text(selector): Text) -> Result<Vec<Handed>> {
        let found = self.descendants(&ctx, &selector)?;
        Ok(self.all(found))
    }

    fn get_elements_by_tag_name(&self, ctx: Ctx<'_>, Text(name): Text) -> Result<Vec<Handed>> {
        self.query_selector_all(ctx, Text(name))
    }

    /// The elements with all classes in `names`.
    fn get_elements_by_class_name(&self, ctx: Ctx<'_>, Text(names): Text) -> Result<Vec<Handed>> {
        let mut found = self.descendants(&ctx, "[class]")?;
        found.retain(|&id| {
            let node = NodeRef::new(id, &self.page.tree);
            names.split_ascii_whitespace().all(|name| node.has_class(name))
        });
        Ok(self.all(found))
    }

    #[qjs(rename = "toString")]
    fn display(&self) -> String {
        if self.node().is_element() {
            "[object html.Node]".to_owned()
        } else {
            format!("[object {}]", self.node_name())
        }
    }
}

impl Element {
    fn attribute<'js>(&self, ctx: &Ctx<'js>, name: &str, value: &str) -> Result<Object<'js>> {
        let attribute = Object::new(ctx.clone())?;
        attribute.set("name", name)?;
        attribute.set("value", value)?;
        attribute.set("ownerElement", Handed(self.clone()))?;
        attribute.set("localName", answers(ctx, name)?)?;
        attribute.set("namespaceURI", answers(ctx, XHTML)?)?;
        attribute.set("prefix", answers(ctx, "")?)?;
        Ok(attribute)
    }
}
