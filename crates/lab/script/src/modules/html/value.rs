//! The values of form controls, options and `data-` attributes.

use dom_query::NodeRef;
use rquickjs::{Ctx, IntoJs as _, Result, Value};

use super::nodes::matching;
use super::selector;

/// The value that a control would send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ControlValue {
    One(String),
    /// The chosen options of a `<select multiple>`.
    Many(Vec<String>),
}

impl ControlValue {
    pub(super) fn into_js<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Self::One(value) => value.into_js(ctx),
            Self::Many(values) => values.into_js(ctx),
        }
    }

    pub(super) fn into_texts(self) -> Vec<String> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

/// The value of a control or an option; `None` of other nodes, and of buttons without one.
pub(super) fn of_control(node: NodeRef<'_>) -> Option<ControlValue> {
    let attribute = || node.attr("value").map(|value| value.to_string());
    match node.node_name()?.as_ref() {
        "input" => Some(ControlValue::One(
            attribute().unwrap_or_else(|| missing(node).to_owned()),
        )),
        "button" => attribute().map(ControlValue::One),
        "textarea" => Some(ControlValue::One(node.text().to_string())),
        "option" => Some(ControlValue::One(of_option(node))),
        "select" => of_select(node),
        _ => None,
    }
}

/// The value of an input without a value.
pub(super) fn missing(input: NodeRef<'_>) -> &'static str {
    match input.attr_or("type", "").to_ascii_lowercase().as_str() {
        "checkbox" | "radio" => "on",
        _ => "",
    }
}

fn of_option(option: NodeRef<'_>) -> String {
    if let Some(value) = option.attr("value") {
        return value.to_string();
    }
    let text = option.text();
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of a select. A list of one choice sends its first option when none is chosen, as in browsers.
fn of_select(select: NodeRef<'_>) -> Option<ControlValue> {
    let chosen = |selector: &str| -> Vec<String> {
        let options = selector::parse(selector).map(|matcher| matching(select, &matcher));
        let options = options.unwrap_or_default().into_iter();
        options
            .map(|id| of_option(NodeRef::new(id, select.tree)))
            .collect()
    };
    let selected = chosen("option[selected]:not([disabled])");
    if select.has_attr("multiple") {
        return Some(ControlValue::Many(selected));
    }
    let first = || chosen("option:not([disabled])").into_iter().next();
    selected
        .into_iter()
        .next_back()
        .or_else(first)
        .map(ControlValue::One)
}

/// The attribute that `data('someName')` reads: `data-some-name`.
pub(super) fn data_attribute(name: &str) -> String {
    let mut attribute = "data-".to_owned();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            attribute.push('-');
        }
        attribute.push(letter.to_ascii_lowercase());
    }
    attribute
}

/// The reverse; `None` of attributes that hold no data.
pub(super) fn data_name(attribute: &str) -> Option<String> {
    let mut parts = attribute.strip_prefix("data-")?.split('-');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    Some(name)
}

/// What a `data-` attribute says, read as k6 does: truth values, numbers that are written as JavaScript writes them, and
/// JSON; anything else is a text, and null and nothing are undefined.
pub(super) fn of_data<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    let is_number = text.parse::<f64>().is_ok_and(|number| number.to_string() == text);
    if matches!(text, "" | "null") {
        return Ok(Value::new_undefined(ctx.clone()));
    }
    if is_number || matches!(text, "true" | "false") || text.starts_with(['{', '[']) {
        match ctx.json_parse(text) {
            Ok(value) => return Ok(value),
            // It only looked like JSON: the exception is not the script's.
            Err(_) => drop(ctx.catch()),
        }
    }
    text.into_js(ctx)
}
