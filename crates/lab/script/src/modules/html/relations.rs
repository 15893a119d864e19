//! What elements have to do with others of their page: forms and their fields, labels, tables and their cells.

use dom_query::{NodeId, NodeRef};

use super::accessor::{Reading, integer, resolved};

/// Elements below `node` whose name is one of these, in the order of the page.
fn below(node: NodeRef<'_>, names: &[&str]) -> Vec<NodeId> {
    let found = node.descendants_it().filter(|other| is_one_of(*other, names));
    found.map(|other| other.id).collect()
}

fn is_one_of(node: NodeRef<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| node.has_name(name))
}

/// The nearest element above `node` whose name is one of these.
fn above<'a>(node: NodeRef<'a>, names: &[&str]) -> Option<NodeRef<'a>> {
    node.ancestors_it(None).find(|other| is_one_of(*other, names))
}

/// The outermost element, in which others are looked for.
fn root(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    node.ancestors_it(None).filter(NodeRef::is_element).last()
}

fn in_page<'a>(node: NodeRef<'a>, is_it: impl Fn(&NodeRef<'a>) -> bool) -> Vec<NodeRef<'a>> {
    let all = root(node).into_iter().flat_map(|root| root.descendants());
    all.filter(|other| other.is_element() && is_it(other)).collect()
}

fn has(node: &NodeRef<'_>, attribute: &str, value: &str) -> bool {
    node.attr(attribute).is_some_and(|found| found.as_ref() == value)
}

fn text(node: NodeRef<'_>, attribute: &str) -> String {
    node.attr_or(attribute, "").to_string()
}

fn one(node: Option<NodeRef<'_>>) -> Reading {
    node.map_or(Reading::Nothing, |node| Reading::Node(node.id))
}

fn position(nodes: &[NodeId], node: NodeRef<'_>) -> Reading {
    let position = nodes.iter().position(|id| *id == node.id);
    Reading::Number(position.map_or(-1.0, |position| position as f64))
}

fn owner<'a>(node: NodeRef<'a>) -> Option<NodeRef<'a>> {
    if node.has_name("form") {
        return Some(node);
    }
    above(node, &["form"]).or_else(|| {
        let id = text(node, "form");
        in_page(node, |other| !id.is_empty() && has(other, "id", &id))
            .into_iter()
            .next()
    })
}

/// The form of a field.
pub(super) fn form(node: NodeRef<'_>, _: &str) -> Reading {
    one(owner(node))
}

/// The form of an option: that around it, or of its list.
pub(super) fn form_of_option(node: NodeRef<'_>, _: &str) -> Reading {
    let of_list = || above(node, &["select"]).and_then(owner);
    one(above(node, &["form"]).or_else(of_list))
}

/// The labels of a field: the one around it, and those that name its id.
pub(super) fn labels(node: NodeRef<'_>, _: &str) -> Reading {
    let around = above(node, &["label"]).map(|label| label.id);
    let id = text(node, "id");
    let named = in_page(node, |other| {
        !id.is_empty() && other.has_name("label") && has(other, "for", &id)
    });
    let mut labels: Vec<_> = around.into_iter().collect();
    labels.extend(
        named
            .iter()
            .map(|label| label.id)
            .filter(|id| Some(*id) != around),
    );
    Reading::Nodes(labels)
}

/// The element that a label is for.
pub(super) fn control(node: NodeRef<'_>, _: &str) -> Reading {
    let id = text(node, "for");
    one(in_page(node, |other| !id.is_empty() && has(other, "id", &id))
        .into_iter()
        .next())
}

/// An attribute of a button, or of its form.
fn of_button_or_form(node: NodeRef<'_>, name: &str) -> Option<String> {
    let own = node.attr(&format!("form{name}"));
    let of_form = || owner(node).and_then(|form| form.attr(name));
    own.or_else(of_form).map(|value| value.to_string())
}

/// Where a button sends its form.
pub(super) fn form_action(node: NodeRef<'_>, base: &str) -> Reading {
    let action = of_button_or_form(node, "action").unwrap_or_default();
    if action.is_empty() {
        return Reading::Text(base.to_owned());
    }
    Reading::Text(resolved(&action, base).unwrap_or(action))
}

/// How a button sends its form.
pub(super) fn form_enctype(node: NodeRef<'_>, _: &str) -> Reading {
    let written = of_button_or_form(node, "enctype").unwrap_or_default();
    let known = ["multipart/form-data", "text/plain"].contains(&written.as_str());
    let default = || "application/x-www-form-urlencoded".to_owned();
    Reading::Text(Some(written).filter(|_| known).unwrap_or_else(default))
}

/// The method with which a button sends its form.
pub(super) fn form_method(node: NodeRef<'_>, _: &str) -> Reading {
    let written = of_button_or_form(node, "method").unwrap_or_default();
    let is_post = written.eq_ignore_ascii_case("post");
    Reading::Text(if is_post { "post" } else { "get" }.to_owned())
}

/// Whether a button sends its form without looking at the fields.
pub(super) fn form_no_validate(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Truth(of_button_or_form(node, "novalidate").is_some())
}

/// Where the answer to a form is shown.
pub(super) fn form_target(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Text(of_button_or_form(node, "target").unwrap_or_default())
}

/// The value of a button or an option, or else its content.
pub(super) fn value_or_content(node: NodeRef<'_>, _: &str) -> Reading {
    let value = node.attr("value").map(|value| value.to_string());
    let content = || node.try_inner_html().map(|html| html.to_string());
    Reading::Text(value.or_else(content).unwrap_or_default())
}

const OF_FORM: [&str; 5] = ["input", "select", "button", "textarea", "fieldset"];

/// The fields of a form.
pub(super) fn elements_of_form(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &OF_FORM))
}

/// The number of fields of a form.
pub(super) fn length_of_form(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(below(node, &OF_FORM).len() as f64)
}

/// The fields in a fieldset.
pub(super) fn elements_of_fieldset(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &OF_FORM[..4]))
}

/// The suggestions of an input.
pub(super) fn list(node: NodeRef<'_>, _: &str) -> Reading {
    const WITHOUT: [&str; 5] = ["hidden", "checkbox", "radio", "file", "button"];
    let id = text(node, "list");
    if id.is_empty() || WITHOUT.contains(&text(node, "type").as_str()) {
        return Reading::Nothing;
    }
    one(
        in_page(node, |other| other.has_name("datalist") && has(other, "id", &id))
            .into_iter()
            .next(),
    )
}

/// The options of a list.
pub(super) fn options(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["option"]))
}

/// The number of options of a list.
pub(super) fn length_of_select(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(below(node, &["option"]).len() as f64)
}

fn selected(node: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let options = node.descendants_it().filter(|other| other.has_name("option"));
    options.filter(|option| option.has_attr("selected")).collect()
}

/// The chosen options of a list.
pub(super) fn selected_options(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(selected(node).iter().map(|option| option.id).collect())
}

/// The position of the first chosen option.
pub(super) fn selected_index(node: NodeRef<'_>, _: &str) -> Reading {
    match selected(node).first() {
        Some(option) => position(&below(node, &["option"]), *option),
        None => Reading::Number(-1.0),
    }
}

/// The value of the first chosen option.
pub(super) fn value_of_select(node: NodeRef<'_>, base: &str) -> Reading {
    let first = selected(node).into_iter().next();
    first.map_or(Reading::Text(String::new()), |option| {
        value_or_content(option, base)
    })
}

/// The number of rows that a list shows.
pub(super) fn size_of_select(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(if node.has_attr("multiple") { 4.0 } else { 1.0 })
}

/// The kind of a list.
pub(super) fn type_of_select(node: NodeRef<'_>, _: &str) -> Reading {
    let kind = if node.has_attr("multiple") {
        "select-multiple"
    } else {
        "select"
    };
    Reading::Text(kind.to_owned())
}

/// Whether an option cannot be chosen.
pub(super) fn option_is_disabled(node: NodeRef<'_>, _: &str) -> Reading {
    let of_group = above(node, &["optgroup"]).is_some_and(|group| group.has_attr("disabled"));
    Reading::Truth(node.has_attr("disabled") || of_group)
}

/// The position of an option in its list.
pub(super) fn index_of_option(node: NodeRef<'_>, _: &str) -> Reading {
    match above(node, &["select", "datalist"]) {
        Some(list) => position(&below(list, &["option"]), node),
        None => Reading::Number(0.0),
    }
}

/// The text of an option that people see.
pub(super) fn label_of_option(node: NodeRef<'_>, _: &str) -> Reading {
    let label = node.attr("label").unwrap_or_else(|| node.text());
    Reading::Text(label.to_string())
}

/// The method of a form.
pub(super) fn method(node: NodeRef<'_>, _: &str) -> Reading {
    let is_post = text(node, "method") == "post";
    Reading::Text(if is_post { "post" } else { "get" }.to_owned())
}

/// The areas of a map.
pub(super) fn areas(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["area"]))
}

/// The pictures with this map.
pub(super) fn images(node: NodeRef<'_>, _: &str) -> Reading {
    let Some(id) = node.attr("id") else {
        return Reading::Nodes(Vec::new());
    };
    let wanted = format!("#{id}");
    let images = in_page(node, |other| {
        is_one_of(*other, &["img", "object"]) && has(other, "usemap", &wanted)
    });
    Reading::Nodes(images.iter().map(|image| image.id).collect())
}

/// The tracks of a film.
pub(super) fn text_tracks(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["track"]))
}

fn number(node: NodeRef<'_>, name: &str) -> Option<f64> {
    let number = node.attr(name)?.parse::<f64>().ok()?;
    Some(number).filter(|number| *number >= 0.0)
}

/// The most that a progress bar shows.
pub(super) fn max_of_progress(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(number(node, "max").unwrap_or(1.0))
}

fn progress(node: NodeRef<'_>, default: f64) -> Reading {
    let part = |value: f64| value / number(node, "max").unwrap_or(1.0);
    Reading::Number(number(node, "value").map_or(default, part))
}

/// The part that a progress bar shows; 0 if it shows none.
pub(super) fn value_of_progress(node: NodeRef<'_>, _: &str) -> Reading {
    progress(node, 0.0)
}

/// The part that a progress bar shows; -1 if it shows none.
pub(super) fn position_of_progress(node: NodeRef<'_>, _: &str) -> Reading {
    progress(node, -1.0)
}

/// The kind of a style sheet.
pub(super) fn type_of_style(node: NodeRef<'_>, _: &str) -> Reading {
    let kind = text(node, "type");
    Reading::Text(if kind.is_empty() {
        "text/css".to_owned()
    } else {
        kind
    })
}

fn child(node: NodeRef<'_>, name: &str) -> Reading {
    one(node.children_it(false).find(|child| child.has_name(name)))
}

/// The caption of a table.
pub(super) fn caption(node: NodeRef<'_>, _: &str) -> Reading {
    child(node, "caption")
}

/// The head of a table.
pub(super) fn head(node: NodeRef<'_>, _: &str) -> Reading {
    child(node, "thead")
}

/// The foot of a table.
pub(super) fn foot(node: NodeRef<'_>, _: &str) -> Reading {
    child(node, "tfoot")
}

/// The rows of a table or of a part of one.
pub(super) fn rows(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["tr"]))
}

/// The bodies of a table.
pub(super) fn bodies(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["tbody"]))
}

/// The cells of a row.
pub(super) fn cells(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nodes(below(node, &["th", "td"]))
}

fn position_within(node: NodeRef<'_>, around: &[&str], names: &[&str]) -> Reading {
    match above(node, around) {
        Some(around) => position(&below(around, names), node),
        None => Reading::Number(-1.0),
    }
}

/// The position of a cell in its row.
pub(super) fn cell_index(node: NodeRef<'_>, _: &str) -> Reading {
    position_within(node, &["tr"], &["th", "td"])
}

/// The position of a row in its table.
pub(super) fn row_index(node: NodeRef<'_>, _: &str) -> Reading {
    position_within(node, &["table"], &["tr"])
}

/// The position of a row in its part of the table.
pub(super) fn section_row_index(node: NodeRef<'_>, _: &str) -> Reading {
    position_within(node, &["thead", "tbody", "tfoot"], &["tr"])
}

/// The number of columns of a `<col>`.
pub(super) fn span(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(integer(node, "span", 1).max(1.0))
}

/// The length of the value of a text area.
pub(super) fn length_of_value(node: NodeRef<'_>, _: &str) -> Reading {
    Reading::Number(text(node, "value").len() as f64)
}

/// The state of the fields of a fieldset, which nothing here judges.
pub(super) fn validity(_: NodeRef<'_>, _: &str) -> Reading {
    Reading::Nothing
}
