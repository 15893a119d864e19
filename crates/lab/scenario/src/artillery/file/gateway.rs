//! The reporter `prometheus` of `publish-metrics`: a Pushgateway.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{reader::Reader, slack::is_of_the_web};
use crate::{
    artillery::{program::uuid, test::Gateway},
    document::{Fields, Part},
};

/// Artillery's default.
const PREFIX: &str = "artillery";

/// The label with the name of a figure.
const METRIC: &str = "metric";

impl<'a> Reader<'a> {
    pub(super) fn read_gateway(
        &self,
        mut fields: Fields<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Option<Gateway> {
        let url = fields.require(
            "pushgateway",
            "the URL of a Pushgateway, for example http://localhost:9091",
        );
        let mut text = |key: &'static str| fields.get(key).map(|part| self.config_text(&part, variables));
        let (prefix, authorities) = (text("prefix"), text("ca"));
        let prefix = prefix.unwrap_or_else(|| Some(PREFIX.to_owned()))?;
        if !is_name(&prefix) {
            fields.part().mistake(format!(
                "`prefix` is {prefix}; expected letters, digits and underlines, for example {PREFIX}"
            ));
        }
        let tags = fields.get("tags").and_then(|part| part.list());
        let labels = tags.into_iter().flatten();
        let labels = labels.filter_map(|part| self.label(&part, variables)).collect();
        self.finish(fields);
        let part = url?;
        let url = self.config_text(&part, variables)?;
        if !is_of_the_web(&url) {
            // It may hold a password.
            part.mistake("expected the URL of a Pushgateway, for example http://localhost:9091");
            return None;
        }
        let of_system = self.surroundings.system.get("WORKER_ID").cloned();
        Some(Gateway {
            url,
            job: of_system.filter(|id| !id.is_empty()).unwrap_or_else(uuid),
            prefix,
            labels,
            authorities: authorities.flatten(),
        })
    }

    /// `name:value`, as the label of all figures.
    fn label(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<(String, String)> {
        let tag = self.config_text(part, variables)?;
        let label = tag
            .split_once(':')
            .filter(|(name, _)| is_name(name) && *name != METRIC);
        if label.is_none() {
            part.mistake(format!(
                "`{tag}` is not a label of Prometheus; expected something like team:chat, and another name than `{METRIC}`"
            ));
        }
        label.map(|(name, value)| (name.to_owned(), value.to_owned()))
    }
}

/// Whether Prometheus takes this as the name of a label, or as the beginning of a metric's.
fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    bytes.next().is_some_and(is_start) && bytes.all(|byte| is_start(byte) || byte.is_ascii_digit())
}
