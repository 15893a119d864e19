//! The subject of a threshold: `http_req_duration`, or the sub-metric that tags select.

use super::ThresholdError;
use crate::{
    metrics::{MetricId, Registry, Selector, Tags},
    nearest::nearest,
};

/// Finds the metric, and registers the selected sub-metric.
pub(super) fn resolve(text: &str, registry: &mut Registry) -> Result<MetricId, ThresholdError> {
    let (name, selector) = parse(text)?;
    let whole = registry.find(name).ok_or_else(|| ThresholdError::UnknownMetric {
        metric: name.to_owned(),
        suggestion: suggestion(name, registry),
    })?;
    Ok(match selector {
        Some(selector) => registry.sub_metric(whole, &selector),
        None => whole,
    })
}

/// Splits `name{tag:value,tag:value}`. Quotes around values are optional.
fn parse(text: &str) -> Result<(&str, Option<Selector>), ThresholdError> {
    let error = |problem: String| ThresholdError::Source {
        metric: text.to_owned(),
        problem,
    };
    let Some((name, rest)) = text.split_once('{') else {
        return Ok((text.trim(), None));
    };
    let inside = rest
        .trim_end()
        .strip_suffix('}')
        .ok_or_else(|| error("the closing `}` is missing".to_owned()))?;
    let mut tags = Tags::new();
    for pair in inside.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (tag, value) = pair
            .split_once(':')
            .ok_or_else(|| error(format!("`{}` has no `:`", pair.trim())))?;
        let [tag, value] = [tag, value].map(|part| unquoted(part.trim()));
        if tag == "vu" || tag == "iter" {
            return Err(error(format!("metrics cannot be split by the tag `{tag}`")));
        }
        tags.insert(tag.to_owned(), value.to_owned());
    }
    if tags.is_empty() {
        return Err(error("there is no tag between `{` and `}`".to_owned()));
    }
    Ok((name.trim(), Some(Selector::new(tags))))
}

fn unquoted(text: &str) -> &str {
    let within = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

/// The metric that was probably meant.
fn suggestion(name: &str, registry: &Registry) -> String {
    let wholes = registry
        .definitions()
        .iter()
        .filter(|definition| definition.selection.is_none());
    nearest(name, wholes.map(|definition| &definition.name)).map_or_else(
        || "; a metric of the script must be created in its init context".to_owned(),
        |name| format!("; did you mean `{name}`?"),
    )
}
