//! Groups and checks as JSON. Each has an id: the MD5 of its path, by which tools identify it.

use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

use crate::summary::{CheckResult, Group, SEPARATOR};

/// A group with its groups and checks in lists, for `handleSummary`.
pub(super) fn lists(group: &Group<'_>) -> Value {
    let mut value = head(group);
    value["groups"] = group.groups.iter().map(lists).collect();
    value["checks"] = checks(group).map(|(_, check)| check).collect();
    value
}

/// A group with its groups and checks by name, for files.
pub(super) fn objects(group: &Group<'_>) -> Value {
    let mut value = head(group);
    let groups = group.groups.iter();
    value["groups"] = groups
        .map(|inner| (inner.name.to_owned(), objects(inner)))
        .collect::<Map<_, _>>()
        .into();
    value["checks"] = checks(group).collect::<Map<_, _>>().into();
    value
}

fn head(group: &Group<'_>) -> Value {
    json!({ "name": group.name, "path": group.path, "id": path_id(group.path) })
}

fn checks(group: &Group<'_>) -> impl Iterator<Item = (String, Value)> {
    group.checks.iter().map(|check| {
        let CheckResult {
            name, passes, fails, ..
        } = check;
        let path = format!("{}{SEPARATOR}{name}", group.path);
        let value =
            json!({ "name": name, "path": path, "id": path_id(&path), "passes": passes, "fails": fails });
        (name.clone(), value)
    })
}

/// The id of a group or a check, which k6 computes from its path, `::outer::inner`: 32 hexadecimal digits.
pub fn path_id(path: &str) -> String {
    let digest = Md5::digest(path);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
