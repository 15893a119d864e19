//! The reference page about k6's modules is what the modules say of themselves, and they say the truth.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::*;
use crate::modules::{Api, CRYPTO, K6, catalog};

const HEAD: &str = "\
# What scripts can use of k6, and more

Written by a test from the tables of the modules (`crates/lab/script/src/modules`); `UPDATE_EXPECT=1 cargo test -p
plimsoll-script compatibility` writes it again. Every module can be imported as a default, by names and as a namespace,
and with `require`. An absent *module* is refused by name when a script imports it.

Globals: `__ENV`, `__VU`, `__ITER`, `open`, `require`, `global`, `console`, `setTimeout`, `clearTimeout`, `setInterval`,
`clearInterval` as in k6; `TextEncoder`, `TextDecoder` (UTF-8), `URL`, `URLSearchParams`, `performance`, `queueMicrotask`,
[`crypto`](#crypto) beside them. Functions do not keep their source: `String(f)` says `[native code]` where k6 shows the
text.
";

const CRYPTO_HEAD: &str = "
## `crypto`

A global. AES-CBC, AES-CTR, AES-GCM, HMAC, ECDSA and ECDH (P-256, P-384, P-521), RSA-OAEP, RSA-PSS, RSASSA-PKCS1-v1_5 and
PBKDF2, with SHA-1, SHA-256, SHA-384 and SHA-512; keys as `raw`, `pkcs8`, `spki` and `jwk`. Errors are Errors with the names
of W3C's specification; k6 rejects with plain objects. Names of algorithms and digests are taken in any case. Slow operations
(new RSA keys, PBKDF2, private RSA keys, P-384 and P-521) do not hold up other virtual users.
";

#[test]
fn the_page_is_what_the_modules_say() {
    let mut page = HEAD.to_owned();
    page.push_str(CRYPTO_HEAD);
    page.push_str(&table(CRYPTO));
    for (id, module) in catalog() {
        match module {
            Ok(api) => {
                let _ = write!(page, "\n## `{id}`\n{}", table(api));
            }
            Err(reason) => {
                let _ = write!(page, "\n## `{id}`\n\nabsent: {reason}\n");
            }
        }
    }
    expect_file!["../../../../../docs/reference/k6-compat.md"].assert_eq(&page);
}

fn table(api: &[Api]) -> String {
    let rows = api.iter().map(|entry| {
        let name = entry.name.replace('|', "\\|");
        format!("| `{name}` | {} |\n", entry.k6.described("k6"))
    });
    format!(
        "\n| name | compared with k6 |\n|---|---|\n{}",
        rows.collect::<String>()
    )
}

#[tokio::test(start_paused = true)]
async fn crypto_has_what_it_says() {
    let names: Vec<_> = CRYPTO
        .iter()
        .map(|entry| entry.name.replace("subtle.", ""))
        .collect();
    let text = format!(
        "const there = [crypto, crypto.subtle].flatMap((of) => Object.keys(of)).filter((name) => name !== 'subtle');
         const names = {names:?};
         if (there.sort().join() !== names.sort().join()) throw new Error(`${{there}} and ${{names}}`);
         export default () => {{}}"
    );
    check(&text, &[]).await;
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

#[tokio::test(start_paused = true)]
async fn a_member_that_is_absent_ends_the_run() {
    let mut trial = Trial::new(program(
        "import { Blob } from 'k6/websockets';
         export default () => { try { new Blob(['a']).stream() } catch {} ; while (true) {} }",
    ));
    assert_eq!(
        trial.iterate(1).await,
        Ok(()),
        "the run ends, and the script with it"
    );
    let text = "export default () => {}; import { Blob } from 'k6/websockets'; new Blob(['a']).stream";
    let error = Script::read(program(text)).unwrap_err();
    assert_eq!(
        error.message,
        "Blob.stream is not supported: use arrayBuffer() or text()"
    );
    assert!(error.is_abort, "{error}");
}
