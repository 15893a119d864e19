//! The reference page about k6's modules is what the modules say of themselves, and they say the truth.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::*;
use crate::modules::{Api, K6, catalog};

const HEAD: &str = "\
# What scripts can use of k6, and more

Written by a test from the tables of the modules (`crates/lab/script/src/modules`); `UPDATE_EXPECT=1 cargo test -p
plimsoll-script compatibility` writes it again. Every module can be imported as a default, by names and as a namespace,
and with `require`. An absent *module* is refused by name when a script imports it.

Globals: `__ENV`, `__VU`, `__ITER`, `open`, `require`, `global`, `console`, `setTimeout`, `clearTimeout`, `setInterval`,
`clearInterval` as in k6; `TextEncoder`, `TextDecoder` (UTF-8), `URL`, `URLSearchParams`, `performance`, `queueMicrotask`,
`crypto.getRandomValues` and `crypto.randomUUID` beside them. `crypto.subtle` is absent. Functions do not keep their
source: `String(f)` says `[native code]` where k6 shows the text.
";

#[test]
fn the_page_is_what_the_modules_say() {
    let mut page = HEAD.to_owned();
    for (id, module) in catalog() {
        match module {
            Ok(api) => {
                let _ = write!(page, "\n## `{id}`\n\n| name | compared with k6 |\n|---|---|\n");
                for entry in api {
                    let _ = writeln!(
                        page,
                        "| `{}` | {} |",
                        entry.name.replace('|', "\\|"),
                        compared(*entry)
                    );
                }
            }
            Err(reason) => {
                let _ = write!(page, "\n## `{id}`\n\nabsent: {reason}\n");
            }
        }
    }
    expect_file!["../../../../../docs/reference/k6-compat.md"].assert_eq(&page);
}

fn compared(entry: Api) -> String {
    match entry.k6 {
        K6::Same => "same".to_owned(),
        K6::Differs(how) => format!("differs: {how}"),
        K6::Absent(why) => format!("absent: {why}"),
        K6::Beyond(what) => format!("not in k6: {what}"),
    }
}

#[tokio::test(start_paused = true)]
async fn modules_have_what_they_say() {
    for (id, module) in catalog() {
        let Ok(api) = module else { continue };
        let has = |entry: &&Api| !entry.name.contains(['.', '`']) && !matches!(entry.k6, K6::Absent(_));
        // A name with a capital and no export of its own is an object that the module hands out, or an option.
        let exported: Vec<_> = api.iter().filter(has).map(|entry| entry.name).collect();
        let text = format!(
            "import * as module from '{id}'; import {{ check }} from 'k6';
             const handedOut = ['Response', 'Params', 'URL', 'User-Agent', 'HTTP_PROXY', 'instance', 'scenario'];
             const missing = {exported:?}.filter((name) => !(name in module) && !handedOut.includes(name));
             if (missing.length > 0) throw new Error(`{id} has no ${{missing}}`);
             export default () => check(module, {{ something: (m) => Object.keys(m).length > 0 }})"
        );
        check(&text, &["checks=1/1"]).await;
    }
}
