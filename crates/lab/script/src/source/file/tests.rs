//! What scripts open, and what is said when they cannot.

use expect_test::expect;

use super::{Specifier, open, read_source};
use crate::source::test_folder::Folder;

#[test]
fn paths_begin_at_the_folder_of_the_script() {
    let folder = Folder::with(&[
        ("data/users.csv", "a,b"),
        ("lib/a.js", ""),
        ("lib/own.bin", "\u{0}"),
    ]);
    let script = folder.specifier("lib/a.js");
    let absolute = folder.path().join("data/users.csv");
    let url = folder.specifier("data/users.csv").as_str().to_owned();
    for path in [
        "../data/users.csv",
        "./../data/users.csv",
        absolute.to_str().expect("UTF-8"),
        &url,
    ] {
        assert_eq!(open(&script, path).expect("it is there"), b"a,b", "{path}");
    }
    for path in ["own.bin", "./own.bin"] {
        assert_eq!(open(&script, path).expect("it is there"), [0], "{path}");
    }
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let folder = Folder::with(&[("users.csv", ""), ("a.js", ""), ("lib/b.js", "")]);
    let script = folder.specifier("a.js");
    let error = |script: &Specifier, path: &str| {
        let error = open(script, path).expect_err("it cannot be opened").to_string();
        folder.hide(&error)
    };
    expect![[r#"open("./user.csv"): there is no file user.csv; did you mean "users.csv"? (a relative path starts at the folder of the script that opens it)"#]].assert_eq(&error(&script, "./user.csv"));
    expect![[r#"open("lib"): cannot read lib: Is a directory (os error 21) (a relative path starts at the folder of the script that opens it)"#]].assert_eq(&error(&script, "lib"));
    expect![[r#"open("nothing/like/it.csv"): there is no file lib/nothing/like/it.csv (a relative path starts at the folder of the script that opens it)"#]].assert_eq(&error(&folder.specifier("lib/b.js"), "nothing/like/it.csv"));
    let fetched = Specifier::parse("https://x.example/a.js").expect("a canonical text");
    expect![[r#"open("/etc/passwd") in a fetched module (https://x.example/a.js): only modules that are files may open files"#]].assert_eq(&error(&fetched, "/etc/passwd"));
}

#[test]
fn sources_are_utf_8() {
    let folder = Folder::with(&[("bom.js", "\u{feff}export {}")]);
    assert_eq!(
        read_source(&folder.path().join("bom.js")).expect("a source"),
        "export {}"
    );
    folder.write("latin.js", b"// \xfc");
    let error = read_source(&folder.path().join("latin.js"))
        .expect_err("no UTF-8")
        .to_string();
    expect!["latin.js is not UTF-8 (byte 3); save it in this encoding"].assert_eq(&folder.hide(&error));
}
