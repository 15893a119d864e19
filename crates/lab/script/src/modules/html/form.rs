//! The data that a page would send: the fields of its forms and the addresses of its links (HTML, 4.10.22).

use dom_query::NodeRef;

use super::{
    nodes::{Nodes, matching},
    selection::Selection,
    selector::{self, SelectorError},
    value::{self, ControlValue},
};

const CONTROLS: &str = "input, select, textarea, keygen";

/// A form that is filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormSubmission {
    /// The method in upper case; `GET` by default.
    pub(crate) method: String,
    /// The form's action as written, relative to the page. Empty when the form has no action; the form is then sent to
    /// the page's own address.
    pub(crate) action: String,
    /// Names and values, in the order of the page.
    pub(crate) fields: Vec<(String, String)>,
}

/// The first form that matches, with the field of its first matching button. `fields` replace or extend the form's own
/// fields. `None` when no form matches.
///
/// # Errors
/// When a selector is invalid.
pub(crate) fn form(
    page: &Selection,
    form_selector: &str,
    submit_selector: &str,
    fields: &[(String, String)],
) -> Result<Option<FormSubmission>, SelectorError> {
    let submit = selector::parse(submit_selector)?;
    let forms = page.nodes.find(&selector::parse(form_selector)?);
    let Some(form) = forms.first() else {
        return Ok(None);
    };
    let mut submission = FormSubmission {
        method: form.attr_or("method", "GET").to_ascii_uppercase(),
        action: form.attr_or("action", "").to_string(),
        fields: flat(of_controls(controls_of(form))),
    };
    let button = matching(form, &submit).into_iter().next();
    let button = button.map(|id| NodeRef::new(id, form.tree));
    if let Some((button, name)) = button.and_then(|button| Some((button, name_of(button)?))) {
        let value = button.attr_or("value", "").to_string();
        submission.set(&name, value);
    }
    for (name, value) in fields {
        submission.set(name, value.clone());
    }
    Ok(Some(submission))
}

/// The target of the first link that matches, as written; `None` when no link matches or the link has no target.
///
/// # Errors
/// When the selector is invalid.
pub(crate) fn link(page: &Selection, link_selector: &str) -> Result<Option<String>, SelectorError> {
    let links = page.nodes.find(&selector::parse(link_selector)?);
    Ok(links
        .first()
        .and_then(|link| link.attr("href"))
        .map(|href| href.to_string()))
}

impl FormSubmission {
    /// The field has this value and no other.
    fn set(&mut self, name: &str, value: String) {
        let position = self.fields.iter().position(|(known, _)| known == name);
        self.fields.retain(|(known, _)| known != name);
        let position = position.unwrap_or(self.fields.len());
        self.fields.insert(position, (name.to_owned(), value));
    }
}

/// The fields of the controls in `nodes`, and of the controls among them.
pub(super) fn fields(nodes: &Nodes) -> Vec<(String, ControlValue)> {
    let is_control = |node: &NodeRef<'_>| {
        let name = node.node_name();
        name.is_some_and(|name| CONTROLS.split(", ").any(|control| control == name.as_ref()))
    };
    of_controls(nodes.iter().flat_map(|node| {
        if is_control(&node) {
            vec![node]
        } else {
            controls_of(node).collect()
        }
    }))
}

/// Each value of each field.
pub(super) fn flat(fields: Vec<(String, ControlValue)>) -> Vec<(String, String)> {
    let fields = fields.into_iter();
    fields
        .flat_map(|(name, value)| {
            value
                .into_texts()
                .into_iter()
                .map(move |text| (name.clone(), text))
        })
        .collect()
}

fn controls_of(node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let controls = selector::parse(CONTROLS).map(|matcher| matching(node, &matcher));
    let controls = controls.unwrap_or_default().into_iter();
    controls.map(move |id| NodeRef::new(id, node.tree))
}

/// The fields of the controls that are sent.
fn of_controls<'a>(controls: impl IntoIterator<Item = NodeRef<'a>>) -> Vec<(String, ControlValue)> {
    controls.into_iter().filter_map(field).collect()
}

fn field(control: NodeRef<'_>) -> Option<(String, ControlValue)> {
    let name = name_of(control)?;
    if is_disabled(control) {
        return None;
    }
    let kind = control.attr_or("type", "").to_ascii_lowercase();
    if !control.has_name("input") {
        return Some((name, value::of_control(control)?));
    }
    match kind.as_str() {
        // Buttons are sent when they are clicked; files cannot be chosen.
        "submit" | "button" | "reset" | "image" | "file" => return None,
        "checkbox" | "radio" if !control.has_attr("checked") => return None,
        _ => {}
    }
    let value = control.attr_or("value", value::missing(control)).to_string();
    Some((name, ControlValue::One(value)))
}

fn is_disabled(control: NodeRef<'_>) -> bool {
    control.has_attr("disabled")
        || control
            .ancestors_it(None)
            .any(|ancestor| ancestor.has_name("fieldset") && ancestor.has_attr("disabled"))
}

fn name_of(control: NodeRef<'_>) -> Option<String> {
    let name = control.attr("name")?;
    Some(name.to_string()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
