//! Packages in a folder of their own.

use super::resolve;
use crate::source::{Builtins, Resolved, Specifier, test_folder::Folder};

const NODE: Builtins<'_> = Builtins {
    present: &["k6/crypto"],
    absent: &[],
    node: Some(&["crypto", "fs/promises"]),
};

/// `written` in `base`, as a path within the folder or as the beginning of an error.
fn check(folder: &Folder, base: &str, written: &str, is_require: bool, expected: &str) {
    let base = Specifier::of_file(&folder.path().join(base)).unwrap();
    let found = match resolve(&base, written, is_require, NODE) {
        Ok(Resolved::Builtin(id)) => id,
        Ok(Resolved::Module(module)) => folder.hide(&module.to_string()),
        Err(error) => folder.hide(&error.to_string()),
    };
    assert!(found.starts_with(expected), "{written}: {found}");
}

#[test]
fn names_mean_what_they_mean_in_node() {
    let folder = Folder::with(&[
        ("lib/users.js", ""),
        ("lib/more.ts", ""),
        ("data.json", ""),
        ("folder/package.json", r#"{"main": "./start"}"#),
        ("folder/start.js", ""),
        ("plain/index.js", ""),
        ("node_modules/old/package.json", r#"{"main": "lib"}"#),
        ("node_modules/old/lib/index.js", ""),
        ("node_modules/old/extra.json", ""),
        ("node_modules/old/build.node", ""),
        (
            "node_modules/@of/new/package.json",
            r##"{"name": "@of/new", "exports": {".": {"import": "./a.mjs", "require": "./a.cjs"}, "./v/*": "./v/*.js"}, "imports": {"#own": "./own.js", "#old": "old"}}"##,
        ),
        ("node_modules/@of/new/a.mjs", ""),
        ("node_modules/@of/new/node_modules/old/index.js", ""),
        ("node_modules/punycode/index.js", ""),
        ("node_modules/broken/package.json", "{"),
    ]);
    let required = |written, expected| check(&folder, "functions.js", written, true, expected);
    let imported = |written, expected| check(&folder, "functions.mjs", written, false, expected);
    required("crypto", "node:crypto");
    imported("node:fs/promises", "node:fs/promises");
    imported("k6/crypto", "k6/crypto");
    required("./lib/users", "lib/users.js");
    required("./lib/more", "lib/more.ts");
    required("./data", "data.json");
    required("./folder", "folder/start.js");
    required("./plain", "plain/index.js");
    required("./none", "none");
    // Imports name the whole file.
    imported("./lib/users", "lib/users");
    check(&folder, "functions.ts", "./lib/users", false, "lib/users.js");
    check(&folder, "functions.ts", "./lib/more.js", false, "lib/more.ts");
    required("old", "node_modules/old/lib/index.js");
    required("old/extra", "node_modules/old/extra.json");
    required("old/build.node", "\"old/build.node\" is machine code");
    imported("@of/new", "node_modules/@of/new/a.mjs");
    required("@of/new", "node_modules/@of/new/a.cjs");
    imported("@of/new/v/4", "node_modules/@of/new/v/4.js");
    imported("@of/new/w", "the package `@of/new` does not export \"@of/new/w\"");
    check(
        &folder,
        "node_modules/@of/new/a.mjs",
        "#own",
        false,
        "node_modules/@of/new/own.js",
    );
    check(
        &folder,
        "node_modules/@of/new/a.mjs",
        "#old",
        false,
        "node_modules/@of/new/node_modules/old/index.js",
    );
    check(
        &folder,
        "node_modules/@of/new/a.mjs",
        "@of/new/v/1",
        false,
        "node_modules/@of/new/v/1.js",
    );
    required("punycode", "node_modules/punycode/index.js");
    required("none", "there is no package `none` in ");
    required(
        "net",
        "Node's module `net` does not exist here; available are crypto, fs/promises",
    );
    required("node:sqlite", "Node's module `sqlite` does not exist here");
    required("broken", "cannot read node_modules/broken/package.json: EOF");
}
