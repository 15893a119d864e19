//! Graphs of files in a folder of their own.

use expect_test::{Expect, expect};

use super::{Entry, LoadOptions, load};
use crate::source::{Builtins, Resolved, SourceKind, Sources, test_folder::Folder};

const BUILTINS: Builtins<'_> = Builtins {
    present: &["k6", "k6/http", "k6/metrics"],
    absent: &[],
    node: None,
};

async fn load_file(folder: &Folder, name: &str) -> Result<Sources, crate::source::SourceError> {
    let options = LoadOptions {
        builtins: BUILTINS,
        ..LoadOptions::default()
    };
    load(Entry::File(folder.path().join(name)), &options).await
}

/// One line for each module: its kind, name, and what it imports.
async fn check(files: &[(&str, &str)], expected: Expect) {
    let folder = Folder::with(files);
    let sources = load_file(&folder, files[0].0).await.expect("all is there");
    let lines: Vec<String> = sources
        .modules
        .iter()
        .map(|module| {
            let kind = match module.kind {
                SourceKind::EsModule => "module",
                SourceKind::CommonJs => "commonjs",
            };
            let imports = module.imports.iter().map(|import| match &import.resolved {
                Resolved::Builtin(id) => format!(" {id}"),
                Resolved::Module(specifier) => format!(" {}", folder.hide(&specifier.to_string())),
            });
            let imports: String = imports.collect();
            format!("{kind} {}:{imports}", folder.hide(&module.specifier.to_string()))
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn modules_come_once_and_in_order() {
    check(
        &[
            (
                "chat.js",
                "import http from 'k6/http';\nimport './lib/a.js';\nexport * from './lib/b.js';",
            ),
            ("lib/a.js", "import { b } from './b.js';\nexport const a = b;"),
            (
                "lib/b.js",
                "import { a } from '../lib/a.js';\nexport const b = () => a;",
            ),
        ],
        expect![[r#"
            module chat.js: k6/http lib/a.js lib/b.js
            module lib/a.js: lib/b.js
            module lib/b.js: lib/a.js"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_only_required_may_be_missing() {
    check(
        &[
            (
                "chat.js",
                "const http = require('k6/http');\nconst a = require('./a.js');\nif (0) { require('crypto'); require('./b.js'); }",
            ),
            ("a.js", "module.exports = require('./chat.js');"),
        ],
        expect![[r#"
            commonjs chat.js: k6/http a.js b.js
            commonjs a.js: chat.js"#]],
    )
    .await;
}

#[tokio::test]
async fn text_stands_for_a_file() {
    let folder = Folder::with(&[("a.js", "export default 1;")]);
    let entry = Entry::Text {
        path: folder.path().join("-"),
        text: "import a from './a.js'; export default () => a;".to_owned(),
    };
    let options = LoadOptions {
        builtins: BUILTINS,
        ..LoadOptions::default()
    };
    let sources = load(entry, &options).await.expect("all is there");
    let names = sources.modules.iter().map(|module| module.specifier.to_string());
    let names: Vec<String> = names.map(|name| folder.hide(&name)).collect();
    assert_eq!(names, ["-", "a.js"]);
    assert_eq!(sources.entry, sources.modules[0].specifier);
}

async fn check_error(files: &[(&str, &str)], expected: Expect) {
    let folder = Folder::with(files);
    let error = load_file(&folder, "chat.js").await.expect_err("a mistake");
    expected.assert_eq(&folder.hide(&error.to_string()));
}

#[tokio::test]
async fn mistakes_have_their_place() {
    check_error(
        &[
            ("chat.js", "import './lib/a.js';"),
            ("lib/a.js", "export const a = 1;\n\timport b from \"./b\";"),
            ("lib/b.js", ""),
        ],
        expect![[r#"
            cannot read the module: there is no file lib/b; did you mean "b.js"? An extension is part of the name
             --> lib/a.js:2:16
            2 | 	import b from "./b";
              | 	              ^"#]],
    )
    .await;
    check_error(
        &[("chat.js", "import http from 'k6/htpp';")],
        expect![[r#"
        cannot import: there is no module "k6/htpp"; did you mean "k6/http"?
         --> chat.js:1:18
        1 | import http from 'k6/htpp';
          |                  ^"#]],
    )
    .await;
    check_error(
        &[("chat.js", "import http from 'k6/http';\n\nhttp.get('x';\n")],
        expect![[r#"
            syntax error: expected `,` or `)` but found `;`
             --> chat.js:3:13
            3 | http.get('x';
              |             ^"#]],
    )
    .await;
    check_error(
        &[(
            "chat.js",
            "export default async function () {\n  await import('./a.js');\n}",
        )],
        expect![[r#"
            import() is not supported, as in k6; import it at the top of the file: import * as lib from "./lib.js"
             --> chat.js:2:9
            2 |   await import('./a.js');
              |         ^"#]],
    )
    .await;
    check_error(
        &[(
            "chat.js",
            "import users from './users.json' with { type: 'json' };",
        )],
        expect![[r#"
            import attributes are not supported; read data with open(), as in JSON.parse(open("./users.json"))
             --> chat.js:1:39
            1 | import users from './users.json' with { type: 'json' };
              |                                       ^"#]],
    )
    .await;
    check_error(
        &[
            ("chat.js", "require('./users.js');\nimport './b.js';"),
            ("b.js", "import './users.js';"),
        ],
        expect![[r#"
            cannot read the module: there is no file users.js
             --> b.js:1:8
            1 | import './users.js';
              |        ^"#]],
    )
    .await;
    check_error(&[("chat.jsx", "")], expect![[r#"cannot read the module: there is no file chat.js; did you mean "chat.jsx"? An extension is part of the name"#]]).await;
}
