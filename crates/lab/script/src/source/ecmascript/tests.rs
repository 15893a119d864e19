//! Kinds and requests, by the syntax.

use std::{path::Path, sync::Arc};

use super::{Platform, SourceKind, Specifier, read};

fn module(source: &str) -> super::Module {
    let name = Specifier::of_file(Path::new("/chat.js")).expect("an absolute path");
    read(&name, &Arc::from(source), Platform::K6).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn kinds_are_told_by_syntax() {
    let modules = [
        "import 'k6';",
        "export default function () {}",
        "export { a } from './a.js';",
        "const here = import.meta.url;",
        "const a = await 1;",
        "for await (const a of []) {}",
        "if (true) { await 1; }",
        "#!/usr/bin/env plimsoll\nexport {}",
    ];
    let bodies = [
        "",
        "module.exports = 1;",
        "// import 'k6';",
        "const text = `export default ${1}`;",
        "async function f() { await 1; } const g = async () => { await 1; };",
        "class A { async f() { await 1; } }",
        "return 1;",
        "with (Math) { exports.a = abs(-1); }",
        "var await = 1;",
        "var octal = 017;",
    ];
    for source in modules {
        assert_eq!(module(source).kind, SourceKind::EsModule, "{source}");
    }
    for source in bodies {
        assert_eq!(module(source).kind, SourceKind::CommonJs, "{source}");
    }
}

#[test]
fn requests_are_found_with_names() {
    let cases: [(&str, &str); 12] = [
        ("import { check, sleep as s } from 'k6';", "k6 [check sleep]"),
        (
            "import http from 'k6/http'; http.get(http.get, http.CookieJar);",
            "k6/http [get CookieJar]",
        ),
        (
            "import { default as http } from 'k6/http'; http.get();",
            "k6/http [get]",
        ),
        ("import * as k6 from 'k6'; k6.check(); exec.test;", "k6 [check]"),
        ("import k6, { check } from 'k6'; k6.sleep(1);", "k6 [check sleep]"),
        (
            "import exec from 'k6/execution'; exec.vu.tags.a;",
            "k6/execution [vu]",
        ),
        ("import 'a'; import {} from 'b';", "a [], b []"),
        (
            "export * from 'a'; export * as b from 'b'; export { c, default as d } from 'c';",
            "a [], b [], c [c]",
        ),
        (
            "const a = require('a'); function b() { return require(\"b\") }",
            "a [], b []",
        ),
        (
            "require(name); require('a' + 'b'); require(); my.require('c'); 'require(1)';",
            "",
        ),
        (
            "// import 'a'\n/* import 'b' */ '\\nimport \"c\"'; /import 'd'/;",
            "",
        ),
        ("import a from '\\u0061';", "a []"),
    ];
    for (source, expected) in cases {
        let requests = module(source).requests;
        let shown: Vec<String> = requests
            .iter()
            .map(|request| {
                let names: Vec<&str> = request.names.iter().map(|name| &*name.name).collect();
                format!("{} [{}]", request.written, names.join(" "))
            })
            .collect();
        assert_eq!(shown.join(", "), expected, "{source}");
    }
}

#[test]
fn places_are_those_of_the_source() {
    let module = module("import k6 from 'k6';\n\n  k6.nap(1);");
    let [request] = module.requests.as_slice() else {
        panic!("there is one import");
    };
    assert_eq!(request.location.to_string(), "/chat.js:1:16");
    assert_eq!(request.names[0].location.to_string(), "/chat.js:3:6");
}

#[test]
fn hashbangs_are_comments_for_the_engine() {
    assert_eq!(&*module("#!/bin/x\nexport {}").text, "///bin/x\nexport {}");
}

#[test]
fn depth_does_not_overflow_the_stack() {
    let name = Specifier::of_file(Path::new("/deep.js")).expect("an absolute path");
    let n = 10_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("!", ""),
        ("a=>", ""),
        ("{", "}"),
        ("a+", ""),
    ] {
        let source = format!("{}1{}", open.repeat(n), close.repeat(n));
        read(&name, &Arc::from(source), Platform::K6).unwrap_or_else(|error| panic!("{open}: {error}"));
        read(&name, &Arc::from(open.repeat(n)), Platform::K6).err();
    }
}
