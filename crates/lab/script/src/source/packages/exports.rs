//! What a package offers: `exports` and `imports` of its `package.json`, with conditions and patterns.

use serde_json::Value;

/// The target of `subpath`, such as `.` or `./v4`: a path that begins with `./`.
pub(super) fn find(exports: &Value, subpath: &str, is_require: bool) -> Option<String> {
    let has_paths = exports
        .as_object()
        .is_some_and(|object| object.keys().any(|key| key.starts_with('.')));
    if has_paths {
        return of_paths(exports, subpath, is_require).filter(|target| target.starts_with("./"));
    }
    let whole = (subpath == ".").then(|| target(exports, "", is_require));
    whole.flatten().filter(|target| target.starts_with("./"))
}

/// The target of a name that begins with `#`: a path, or a package.
pub(super) fn find_internal(imports: &Value, name: &str, is_require: bool) -> Option<String> {
    of_paths(imports, name, is_require)
}

/// The target in a table of paths. Of patterns, that with the longest beginning counts.
fn of_paths(table: &Value, path: &str, is_require: bool) -> Option<String> {
    let table = table.as_object()?;
    if let Some(exact) = table.get(path).filter(|_| !path.contains('*')) {
        return target(exact, "", is_require);
    }
    let patterns = table.iter().filter_map(|(key, value)| {
        let (begin, end) = key.split_once('*')?;
        let middle = path.strip_prefix(begin)?.strip_suffix(end)?;
        (!middle.is_empty()).then_some((begin.len(), middle, value))
    });
    let (_, middle, value) = patterns.max_by_key(|(length, ..)| *length)?;
    target(value, middle, is_require)
}

/// The text of a target, by the first condition that holds; `middle` replaces `*`.
fn target(value: &Value, middle: &str, is_require: bool) -> Option<String> {
    match value {
        Value::String(text) => {
            let path = text.replace('*', middle);
            // It must not lead out of the package.
            let mut parts = path.split('/');
            let leads_out = parts.any(|part| part == ".." || part == "node_modules");
            (!leads_out).then_some(path)
        }
        Value::Array(targets) => targets.iter().find_map(|value| target(value, middle, is_require)),
        Value::Object(conditions) => conditions.iter().find_map(|(condition, value)| {
            let holds = match condition.as_str() {
                "default" | "node" | "module-sync" => true,
                "require" => is_require,
                "import" => !is_require,
                _ => false,
            };
            holds.then(|| target(value, middle, is_require)).flatten()
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_and_patterns_lead_to_one_file() {
        let check = |exports: Value, subpath: &str, of_require: Option<&str>, of_import: Option<&str>| {
            assert_eq!(find(&exports, subpath, true).as_deref(), of_require, "{subpath}");
            assert_eq!(find(&exports, subpath, false).as_deref(), of_import, "{subpath}");
        };
        let a = Some("./a.js");
        check(json!("./a.js"), ".", a, a);
        check(json!("./a.js"), "./b", None, None);
        check(
            json!({"import": "./a.mjs", "require": "./a.cjs"}),
            ".",
            Some("./a.cjs"),
            Some("./a.mjs"),
        );
        check(
            json!({".": {"browser": "./b.js", "node": {"import": "./n.mjs"}, "default": "./d.js"}}),
            ".",
            Some("./d.js"),
            Some("./n.mjs"),
        );
        let patterns = json!({"./*": "./lib/*.js", "./x/*.js": "./x/*.js", "./private/*": null});
        check(patterns.clone(), "./x/y.js", Some("./x/y.js"), Some("./x/y.js"));
        check(patterns.clone(), "./private/y", None, None);
        check(
            patterns.clone(),
            "./deep/y",
            Some("./lib/deep/y.js"),
            Some("./lib/deep/y.js"),
        );
        check(patterns, "./../../etc/passwd", None, None);
        check(json!(["../x.js", "./a.js"]), ".", a, a);
        check(json!({"types": "./a.d.ts"}), ".", None, None);
    }
}
