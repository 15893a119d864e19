//! The contents of presence messages (docs/protocols/extended.md, Presence). An envelope of the type
//! [`MESSAGE_TYPE`] carries them.
//!
//! Fields come in AnyCable's order. The info of a member is JSON text and is embedded unchanged.

/// The type of the messages with these contents.
pub const MESSAGE_TYPE: &str = "presence";

/// A member has come.
pub fn joined(id: &str, info: Option<&str>) -> String {
    event("join", id, info)
}

/// The info of a member has changed.
pub fn updated(id: &str, info: Option<&str>) -> String {
    event("update", id, info)
}

/// A member has left.
pub fn left(id: &str) -> String {
    event("leave", id, None)
}

/// The answer to a client that asks who is present: the number of members, and the members with their info. `None`
/// leaves the members out.
pub fn info<'a>(
    total: usize,
    members: Option<impl IntoIterator<Item = (&'a str, Option<&'a str>)>>,
) -> String {
    let mut text = format!(r#"{{"type":"info","total":{total}"#);
    let mut separator = r#","records":["#;
    for (id, info) in members.into_iter().flatten() {
        text.push_str(separator);
        text.push('{');
        push_member(id, info, &mut text);
        separator = ",";
    }
    text.push_str(if separator == "," { "]}" } else { "}" });
    text
}

/// The answer that a request cannot be served, with the reason for people.
pub fn error(reason: &str) -> String {
    format!(r#"{{"type":"error","total":0,"reason":{}}}"#, json_string(reason))
}

fn event(kind: &str, id: &str, info: Option<&str>) -> String {
    let mut text = format!(r#"{{"type":"{kind}","#);
    push_member(id, info, &mut text);
    text
}

/// Appends the last fields of an object.
fn push_member(id: &str, info: Option<&str>, text: &mut String) {
    if let Some(info) = info {
        text.push_str(r#""info":"#);
        text.push_str(info);
        text.push(',');
    }
    text.push_str(r#""id":"#);
    text.push_str(&json_string(id));
    text.push('}');
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_anycables_fields_in_their_order() {
        let kay = ("k\"ay", Some(r#"{"b": 1.0,"a":12345678901234567890}"#));
        let no_list: Option<[(&str, Option<&str>); 0]> = None;
        for (text, expected) in [
            (
                joined(kay.0, kay.1),
                r#"{"type":"join","info":{"b": 1.0,"a":12345678901234567890},"id":"k\"ay"}"#,
            ),
            (joined("7", None), r#"{"type":"join","id":"7"}"#),
            (
                updated("7", Some("[]")),
                r#"{"type":"update","info":[],"id":"7"}"#,
            ),
            (left("7"), r#"{"type":"leave","id":"7"}"#),
            (info(0, Some([])), r#"{"type":"info","total":0}"#),
            (info(2, no_list), r#"{"type":"info","total":2}"#),
            (
                info(2, Some([("7", Some("1")), ("8", None)])),
                r#"{"type":"info","total":2,"records":[{"info":1,"id":"7"},{"id":"8"}]}"#,
            ),
            (
                error("no such \"subscription\""),
                r#"{"type":"error","total":0,"reason":"no such \"subscription\""}"#,
            ),
        ] {
            assert_eq!(text, expected);
        }
    }
}
