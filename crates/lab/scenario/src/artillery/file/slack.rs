//! `config.plugins.slack`: a message at the end of the run.

use std::collections::BTreeMap;

use plimsoll_clients::http::Url;
use serde_json::Value;

use super::{config::is_map, reader::Reader};
use crate::{
    artillery::{keys, test::Slack},
    document::Part,
};

/// The value of `webhookUrl`, which no message shows.
const EXPECTED: &str =
    "the URL of an incoming webhook of Slack, for example \"{{ $env.SLACK_WEBHOOK_URL }}\"";

impl<'a> Reader<'a> {
    pub(super) fn read_slack(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Slack> {
        if !is_map(part) {
            // A URL in its place is a secret, so the value is not shown.
            part.mistake("expected a map, for example { webhookUrl: \"{{ $env.SLACK_WEBHOOK_URL }}\" }");
            return None;
        }
        let mut fields = part.fields_of(&keys::SLACK)?;
        let url = fields.require("webhookUrl", EXPECTED);
        let on_failure_only = fields.get("notifyOnFailureOnly").and_then(|part| part.boolean());
        fields.finish();
        let part = url?;
        let webhook = self.config_text(&part, variables)?;
        if !is_of_the_web(&webhook) {
            part.mistake(format!(
                "expected {EXPECTED}; it begins with https://, and is not shown because it is a secret"
            ));
            return None;
        }
        Some(Slack {
            webhook,
            on_failure_only: on_failure_only.unwrap_or(false),
        })
    }
}

/// Whether this is a URL for HTTP.
pub(super) fn is_of_the_web(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
