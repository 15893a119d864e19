//! Each rule with a text that breaks it and one that does not.

use super::*;

/// Pages of the repository that texts are checked in.
const PAGES: [(&str, &str); 2] = [
    (
        "docs/cable.md",
        "# Cable\n\n## Close codes\n\n## `--flag`, and more\n\n```\n# No heading\n```\n",
    ),
    ("README.md", "# Plimsoll\n"),
];

/// `text` at `path` has findings in exactly these lines.
#[track_caller]
fn check(path: &str, text: &str, expected: &[usize]) {
    let mut tree = Tree::default();
    for (page, content) in PAGES {
        tree.add(Path::new(page), Some(content));
    }
    tree.add(Path::new("docs/images/a.png"), None);
    tree.add(Path::new(path), Some(text));
    let source = Source {
        path: Path::new(path),
        text,
        tree: &tree,
    };
    let lines: Vec<usize> = RULES
        .iter()
        .flat_map(|rule| rule(&source))
        .map(|(line, _)| line)
        .collect();
    assert_eq!(lines, expected, "{path}: {text:?}");
}

#[test]
fn rust_files_start_with_docs() {
    check("a.rs", "//! Why.\n", &[]);
    check("a.rs", "// Why.\n", &[1]);
    check("a.mjs", "// Why.\n", &[]);
}

#[test]
fn trailing_whitespace() {
    check("README.md", "a\nb \nc\t\n", &[2, 3]);
    check("README.md", "a\r\nb\n", &[]);
    check("README.md", "a\n\nb", &[]);
}

#[test]
fn long_files() {
    let text = "//! Why.\n".repeat(MAX_LINES);
    check("a.rs", &text, &[]);
    check("a.rs", &format!("{text}one more\n"), &[MAX_LINES + 1]);
    check("package-lock.json", &format!("{text}one more\n"), &[]);
}

#[test]
fn todos_have_an_issue() {
    let mark = concat!("TO", "DO");
    check("a.mjs", &format!("// {mark}(#12): later\n"), &[]);
    check("a.mjs", &format!("// {mark}: later\n// {mark}(kay)\n"), &[1, 2]);
}

#[test]
fn sleeping_tests() {
    let nap = concat!("tokio::time::", "sleep(d).await;");
    check("src/a.rs", &format!("//! Why.\n{nap}\n"), &[]);
    check(
        "src/a.rs",
        &format!("//! Why.\n{nap}\n#[cfg(test)]\nmod tests {{\n{nap}\n}}\n"),
        &[5],
    );
    let paused = "#[tokio::test(start_paused = true)]";
    check("src/a/tests.rs", &format!("//! Why.\n{paused}\n{nap}\n"), &[]);
    check("src/a/tests.rs", &format!("//! Why.\n{nap}\n"), &[2]);
    check(
        "tests/a.mjs",
        concat!("import {setTimeout} from \"timers/", "promises\";\n"),
        &[1],
    );
}

#[test]
fn ignored_tests() {
    check(
        "a.rs",
        concat!("//! Why.\n#[", "ignore]\n#[", "ignore = \"slow\"]\n"),
        &[2, 3],
    );
}

#[test]
fn machine_paths() {
    for (line, expected) in [
        (concat!("cd /", "work/main"), true),
        (concat!("(/", "root/x)"), true),
        (concat!("\"/", "home/kay/x\""), true),
        (concat!("/", "tmp/x"), true),
        (concat!("https://example.org/", "work/x"), false),
        ("/workers/1", false),
        ("target/tmp/x", false),
        ("$HOME/x", false),
    ] {
        let expected: &[usize] = if expected { &[1] } else { &[] };
        check("docs/a.md", line, expected);
    }
    check("a.sh", concat!("/", "tmp/x"), &[]);
}

#[test]
fn package_sources() {
    check("tests/package-lock.json", "{\n  \"resolved\": \"x\"\n}\n", &[2]);
    check(".npmrc", concat!("a=https:", "//registry.example.org/\n"), &[1]);
    check("README.md", "see https://example.org/registry\n", &[]);
    check(
        "Cargo.lock",
        concat!("source = \"https:", "//registry.example.org\"\n"),
        &[],
    );
}

#[test]
fn hashes_without_key() {
    for (path, line, is_wrong) in [
        ("src/a.rs", concat!("use rustc", "_hash::Fx", "HashMap;"), true),
        (
            "src/a.rs",
            concat!("let map: Fx", "HashMap<u32, u32> = table;"),
            true,
        ),
        (
            "src/a.rs",
            concat!("let mut hasher = Default", "Hasher::new();"),
            true,
        ),
        ("src/a.rs", concat!("impl Hasher", " for Mine {"), true),
        ("src/a.rs", "use std::collections::HashMap;", false),
        ("src/a.rs", "struct Hasher { state: u64 }", false),
        ("src/a.rs", concat!("// Faster than an Fx", "HashMap."), false),
        (
            "crates/a/Cargo.toml",
            concat!("rustc", "-hash.workspace = true"),
            true,
        ),
        ("crates/a/Cargo.toml", concat!("f", "nv = \"1\""), true),
        ("crates/a/Cargo.toml", "hash = \"1\"", false),
        ("README.md", concat!("ru", "stc-hash"), false),
        (
            "crates/server/hub/src/fanout.rs",
            concat!("use rustc", "_hash::Fx", "HashMap;"),
            false,
        ),
        // An exception that is no longer needed.
        ("crates/server/hub/src/fanout.rs", "", true),
    ] {
        let (text, number) = if path.ends_with(".rs") {
            (format!("//! Why.\n{line}\n"), if line.is_empty() { 1 } else { 2 })
        } else {
            (format!("{line}\n"), 1)
        };
        let expected: &[usize] = if is_wrong { &[number] } else { &[] };
        check(path, &text, expected);
    }
}

#[test]
fn links_of_pages() {
    for (link, is_dead) in [
        ("[a](../README.md)", false),
        ("[a](cable.md#close-codes)", false),
        ("[a](cable.md#--flag-and-more)", false),
        ("[a](images)", false),
        ("![a](images/a.png)", false),
        ("[a](#here)", false),
        (
            "[a](https://example.org/b.md#c) and [d](mailto:kay@example.org)",
            false,
        ),
        ("[a](README.md)", true),
        ("[a](../../README.md)", true),
        ("[a](cable.md#commands)", true),
        ("[a](cable.md#no-heading)", true),
        ("[a](#there)", true),
        ("[a](cable.md), [b](images/b.png)", true),
    ] {
        let expected: &[usize] = if is_dead { &[3] } else { &[] };
        check("docs/b.md", &format!("# Here\n\n{link}\n"), expected);
    }
    check("docs/b.md", "```\n[a](nowhere.md)\n```\n", &[]);
    check("docs/b.md", "[a](nowhere.md) [b](nothing.md)\n", &[1, 1]);
    check("b.rs", "//! [a](nowhere.md)\n", &[]);
}

#[test]
fn documents_in_the_index() {
    check("docs/README.md", "[a](cable.md#close-codes)\n", &[]);
    check("docs/README.md", "[a](../README.md)\n", &[1]);
    check("README.md", "[a](docs/images)\n", &[]);
}

#[test]
fn texts_that_readers_do_not_have() {
    for (line, is_wrong) in [
        (concat!("as the spec", " §2.2 says"), true),
        (concat!("(k6 spec", " §3)"), true),
        (concat!("(direction", " §4.2)"), true),
        (concat!("the command of seed", " 001"), true),
        ("RFC 6455 §5.5.2", false),
        (concat!("with the seed", " 0 it repeats"), false),
        ("the specification of XDG", false),
    ] {
        let expected: &[usize] = if is_wrong { &[1] } else { &[] };
        check("clippy.toml", &format!("# {line}\n"), expected);
        check("docs/b.md", &format!("{line}\n"), expected);
    }
}

#[test]
fn pages_that_comments_cite() {
    for (comment, is_wrong) in [
        ("as docs/cable.md says", false),
        ("(docs/cable.md, Close codes)", false),
        ("(docs/cable.md, `--flag`, and more), or nothing", false),
        ("docs/cable.md, which is long", false),
        ("(RFC 6455; `docs/cable.md`).", false),
        ("[a](../../docs/cable.md)", false),
        (
            "https://example.org/docs/a.md, crates/lab/report/docs/a.md",
            false,
        ),
        ("the folder docs/", false),
        ("(docs/cables.md)", true),
        ("(docs/cable.md, Commands)", true),
        ("docs/cable.md, No heading", true),
    ] {
        let expected: &[usize] = if is_wrong { &[2] } else { &[] };
        check(
            "a.rs",
            &format!("//! Why.\n/// {comment}\nfn a() {{}}\n"),
            expected,
        );
        check("a.rs", &format!("//! Why.\nlet a = 1; // {comment}\n"), expected);
        check("a.toml", &format!("[a]\n# {comment}\n"), expected);
    }
    // A heading may stand on the next line, and text outside comments is not a citation.
    check("a.rs", "//! Why (docs/cable.md, Close\n//! codes).\n", &[]);
    check("a.rs", "//! Why (docs/cable.md,\n//! Close).\n", &[1]);
    check("a.rs", "//! Why.\nlet page = \"docs/b.md\";\n", &[]);
}

#[test]
fn words_in_place_of_the_thing() {
    for (text, is_wrong) in [
        (concat!("No", "body reads it."), true),
        (concat!("It waits until some", "body reads it."), true),
        (concat!("the user to wh", "om it belongs"), true),
        (concat!("Like", "wise for the second one."), true),
        (concat!("for a name that is ", "none"), true),
        (concat!("words such as `no", "body`"), false),
        (concat!("some", "bodyguard"), false),
        ("No thread reads it.", false),
    ] {
        let expected: &[usize] = if is_wrong { &[2] } else { &[] };
        check("a.rs", &format!("//! Why.\n/// {text}\nfn a() {{}}\n"), expected);
        check("a.rs", &format!("//! Why.\nlet a = 1; // {text}\n"), expected);
        check("a.toml", &format!("[a]\n# {text}\n"), expected);
        check("docs/b.md", &format!("# Here\n{text}\n"), expected);
        // Only comments and prose are checked.
        check("a.rs", &format!("//! Why.\nlet a = \"{text}\";\n"), &[]);
        check("docs/b.md", &format!("```\n{text}\n```\n"), &[]);
        check("tests/foreign/a.ts", &format!("// Why.\n// {text}\n"), expected);
    }
}
