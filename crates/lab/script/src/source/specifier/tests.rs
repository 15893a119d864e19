//! Every form of specifier, from a file and from a fetched module.

use std::path::Path;

use super::{Builtins, Resolved, Specifier, resolve};

const BUILTINS: Builtins<'_> = Builtins {
    present: &["k6", "k6/http", "k6/metrics", "k6/x/cable"],
    absent: &[("k6/browser", "leave it to k6")],
    node: None,
};
const FETCHED: &str = "https://jslib.k6.io/k6-utils/1.1.0/index.js";

fn script() -> Specifier {
    Specifier::of_file(Path::new("/load/scripts/chat.js")).expect("an absolute path")
}

fn fetched() -> Specifier {
    Specifier::parse(FETCHED).expect("a canonical text")
}

#[test]
fn specifiers_have_a_canonical_form() {
    let cases = [
        (script(), "./lib/a.js", "file:///load/scripts/lib/a.js"),
        (script(), "../lib/./a.ts", "file:///load/lib/a.ts"),
        (script(), "/opt/x/../a.js", "file:///opt/a.js"),
        (script(), "file:///opt/a.js", "file:///opt/a.js"),
        (
            script(),
            "./with space/ü.js",
            "file:///load/scripts/with%20space/%C3%BC.js",
        ),
        (script(), FETCHED, FETCHED),
        (
            script(),
            "https://JSLIB.k6.io:443/a/../b.js",
            "https://jslib.k6.io/b.js",
        ),
        (
            fetched(),
            "./utils.js",
            "https://jslib.k6.io/k6-utils/1.1.0/utils.js",
        ),
        (fetched(), "/a.js", "https://jslib.k6.io/a.js"),
        (
            script(),
            "http://anycable.io/xk6-cable/jslib/k6-rails/0.1.0/index.js",
            "https://anycable.io/xk6-cable/jslib/k6-rails/0.1.0/index.js",
        ),
        (
            fetched(),
            "https://other.example/a.js",
            "https://other.example/a.js",
        ),
    ];
    for (base, written, expected) in cases {
        let Ok(Resolved::Module(specifier)) = resolve(&base, written, BUILTINS) else {
            panic!("{written} is a module");
        };
        assert_eq!(specifier.as_str(), expected, "{written}");
        assert_eq!(Specifier::parse(expected), Some(specifier));
    }
    for &id in BUILTINS.present {
        let expected = Ok(Resolved::Builtin(id.to_owned()));
        assert_eq!(resolve(&script(), id, BUILTINS), expected);
        assert_eq!(resolve(&fetched(), id, BUILTINS), expected);
    }
}

#[test]
fn what_means_nothing_says_what_to_write() {
    let cases = [
        (script(), "k6/htpp", "did you mean \"k6/http\"?"),
        (script(), "k6/x/cabel", "did you mean \"k6/x/cable\"?"),
        (
            script(),
            "k6/x/kafka",
            "cannot be loaded here; available modules: k6, k6/http, k6/metrics",
        ),
        (
            script(),
            "k6/browser",
            "k6's module \"k6/browser\" is not supported; leave it to k6",
        ),
        (script(), "lodash", "write a file as \"./lib/users.js\""),
        (script(), "lib/a.js", "write a file as \"./lib/users.js\""),
        (script(), "", "neither a path nor a URL"),
        (script(), "http://x.example/a.js", "write https://"),
        (
            script(),
            "ftp://x.example/a.js",
            "begins with https:// or file://",
        ),
        (script(), "https://", "is not a valid URL (empty host)"),
        (script(), "./users.json", "JSON.parse(open(\"./users.json\"))"),
        (
            fetched(),
            "file:///etc/passwd",
            "only import other fetched modules",
        ),
    ];
    for (base, written, expected) in cases {
        let error = resolve(&base, written, BUILTINS).expect_err("no module");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn files_are_shown_as_paths() {
    for (path, text, shown) in [
        ("/a b/c.js", "file:///a%20b/c.js", "/a b/c.js"),
        ("/a/./b/../c.js", "file:///a/c.js", "/a/c.js"),
        ("/../a.js", "file:///a.js", "/a.js"),
    ] {
        let specifier = Specifier::of_file(Path::new(path)).expect("an absolute path");
        assert_eq!(specifier.as_str(), text);
        assert_eq!(specifier.to_string(), shown);
        assert_eq!(specifier.to_path().as_deref(), Some(Path::new(shown)));
    }
    assert_eq!(Specifier::of_file(Path::new("a.js")), None);
    assert_eq!(Specifier::parse("http://x.example/a.js"), None);
    assert_eq!(fetched().to_string(), FETCHED);
    assert_eq!(fetched().to_path(), None);
}
