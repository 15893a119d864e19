//! The crates whose code is in the program.

use std::{collections::BTreeSet, path::PathBuf};

use serde_json::Value;

use super::{Error, target::Target};
use crate::{command, repository};

/// A crate that others made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    pub(super) folder: PathBuf,
    /// Whether it comes from crates.io; otherwise from `vendor`.
    pub(super) is_from_registry: bool,
}

/// Reads them from Cargo. What only tests, builds, macros or other targets need is left out.
pub(super) fn shipped(targets: &[Target]) -> Result<Vec<Dependency>, Error> {
    let mut metadata = repository::cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    for target in targets {
        metadata.args(["--filter-platform", target.triple()]);
    }
    let text = command::read(&mut metadata)?;
    let unexpected = |error: serde_json::Error| Error::Unexpected {
        what: "cargo metadata",
        found: error.to_string(),
    };
    Ok(of_program(&serde_json::from_str(&text).map_err(unexpected)?))
}

fn of_program(metadata: &Value) -> Vec<Dependency> {
    let packages = list(&metadata["packages"]);
    let package = |id: &Value| packages.iter().find(|package| package["id"] == *id);
    let nodes = list(&metadata["resolve"]["nodes"]);
    let program = packages.iter().find(|package| package["name"] == "plimsoll");
    let mut waiting: Vec<&Value> = program.into_iter().map(|package| &package["id"]).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id.to_string()) {
            continue;
        }
        let Some(package) = package(id).filter(|package| !is_macro(package)) else {
            continue;
        };
        found.extend(dependency(package));
        let node = nodes.iter().find(|node| node["id"] == *id);
        waiting.extend(node.map(linked).unwrap_or_default());
    }
    found.sort();
    found
}

/// The packages that this one links to.
fn linked(node: &Value) -> Vec<&Value> {
    let is_linked = |dependency: &&Value| {
        list(&dependency["dep_kinds"])
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    list(&node["deps"])
        .iter()
        .filter(is_linked)
        .map(|dependency| &dependency["pkg"])
        .collect()
}

fn is_macro(package: &Value) -> bool {
    let targets = list(&package["targets"]);
    targets
        .iter()
        .any(|target| list(&target["kind"]).iter().any(|kind| kind == "proc-macro"))
}

/// `None` for our own crates.
fn dependency(package: &Value) -> Option<Dependency> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut folder = PathBuf::from(text("manifest_path"));
    folder.pop();
    let is_from_registry = package["source"].is_string();
    let is_vendored = folder.starts_with(repository::root().join("vendor"));
    (is_from_registry || is_vendored).then(|| Dependency {
        name: text("name"),
        version: text("version"),
        licence: text("license"),
        folder,
        is_from_registry,
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn macros_builds_and_tests_are_not_in_the_program() {
        let package = |name: &str, kind: &str| {
            json!({
                "id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": "registry",
                "manifest_path": format!("/crates/{name}/Cargo.toml"), "targets": [{ "kind": [kind] }],
            })
        };
        let edge = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("plimsoll", "bin"), package("used", "lib"), package("indirect", "lib"),
                package("macro", "proc-macro"), package("of-macro", "lib"), package("cc", "lib"), package("proptest", "lib"),
            ],
            "resolve": { "nodes": [
                { "id": "plimsoll", "deps": [edge("used", Value::Null), edge("macro", Value::Null), edge("proptest", json!("dev"))] },
                { "id": "used", "deps": [edge("indirect", Value::Null), edge("cc", json!("build"))] },
                { "id": "macro", "deps": [edge("of-macro", Value::Null)] },
            ] },
        });
        let names: Vec<String> = of_program(&metadata)
            .into_iter()
            .map(|dependency| dependency.name)
            .collect();
        assert_eq!(names, ["indirect", "plimsoll", "used"]);
    }

    #[test]
    fn what_is_shipped_has_a_licence() {
        let shipped = shipped(&Target::ALL).unwrap();
        let has = |name: &str| shipped.iter().any(|dependency| dependency.name == name);
        assert!(has("tokio") && has("rquickjs-sys") && !has("serde_derive") && !has("plimsoll-hub"));
        for dependency in shipped {
            assert!(!dependency.licence.is_empty(), "{dependency:?}");
        }
    }
}
