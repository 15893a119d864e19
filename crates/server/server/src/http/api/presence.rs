//! `GET <api_path>/presence/<stream>/users`: the members that are present on a stream, in AnyCable's form.

use hyper::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    http::{
        answers::{Answer, bad_query, json, text},
        query,
    },
    roll::Page,
    shard::Shard,
};

/// The most members of one answer. AnyCable's clients ask without a limit and expect all of them.
const MAX_LIMIT: usize = 100_000;

/// The memory of the members of one answer, in bytes. The last member may exceed it.
const MAX_BYTES: usize = 4 << 20;

/// AnyCable's answer to a client, with `has_more` if members are missing.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    total: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<Record<'a>>,
    #[serde(skip_serializing_if = "is_false")]
    has_more: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<&'a RawValue>,
    id: &'a str,
}

/// The wanted part of the list.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    after: Option<String>,
    limit: usize,
    /// Whether members are listed, besides their number.
    wants_records: bool,
}

pub(super) async fn answer(shard: &Shard, stream: &str, query: &str) -> Answer {
    let Some(roll) = &shard.shared.roll else {
        let reason = "The server keeps no presence; start it with --broker memory or redis.";
        return text(StatusCode::NOT_IMPLEMENTED, reason);
    };
    match Wanted::parse(query) {
        Ok(wanted) => {
            let after = wanted.after.as_deref();
            let page = roll.page(stream, after, wanted.limit, MAX_BYTES).await;
            let mut page = match page {
                Ok(page) => page,
                Err(error) => return text(StatusCode::SERVICE_UNAVAILABLE, &format!("{error}.")),
            };
            if !wanted.wants_records {
                page.members.clear();
                page.has_more = false;
            }
            json(&document(&page))
        }
        Err(problem) => bad_query(&problem),
    }
}

impl Wanted {
    fn parse(query: &str) -> Result<Self, String> {
        let [after, limit, return_records] = query::parameters(query, ["after", "limit", "return_records"])?;
        let wants_records = match return_records.as_deref() {
            None | Some("true") => true,
            Some("false") => false,
            Some(_) => return Err("The parameter return_records is neither true nor false.".to_owned()),
        };
        Ok(Self {
            after,
            limit: query::limit(limit.as_ref(), MAX_LIMIT, MAX_LIMIT)?,
            wants_records,
        })
    }
}

fn document(page: &Page) -> Document<'_> {
    let records = page.members.iter().map(|(id, info)| Record {
        // An info was JSON when the member came.
        info: info.as_deref().and_then(|info| serde_json::from_str(info).ok()),
        id,
    });
    Document {
        kind: "info",
        total: page.total,
        records: records.collect(),
        has_more: page.has_more,
    }
}

/// For serde, which passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Result<(Option<&str>, usize, bool), &str>) {
        let found = Wanted::parse(query);
        let found = found.as_ref().map_err(String::as_str);
        let found = found.map(|wanted| (wanted.after.as_deref(), wanted.limit, wanted.wants_records));
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn parameters_choose_members() {
        check("", Ok((None, MAX_LIMIT, true)));
        check("after=k%2Fy&limit=2", Ok((Some("k/y"), 2, true)));
        check("return_records=false", Ok((None, MAX_LIMIT, false)));
        check("limit=0", Err("The parameter limit is outside of 1 to 100000."));
        check(
            "return_records=0",
            Err("The parameter return_records is neither true nor false."),
        );
    }

    #[test]
    fn the_document_is_anycables() {
        let page = |members: &[(&str, Option<&str>)], has_more| Page {
            total: 3,
            members: members
                .iter()
                .map(|(id, info)| ((*id).into(), info.map(Into::into)))
                .collect(),
            has_more,
        };
        for (page, expected) in [
            (page(&[], false), r#"{"type":"info","total":3}"#),
            (
                page(&[("a", Some(r#"{"n": 1.0}"#)), ("b", None)], true),
                r#"{"type":"info","total":3,"records":[{"info":{"n": 1.0},"id":"a"},{"id":"b"}],"has_more":true}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&document(&page)).expect("texts"), expected);
        }
    }
}
