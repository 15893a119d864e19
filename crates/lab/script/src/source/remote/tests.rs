//! A server with TLS that behaves as servers do, and a cache that is damaged on purpose.

mod server;

use std::{
    fs,
    path::{Path, PathBuf},
};

use expect_test::{Expect, expect};

use self::server::Server;
use super::{Remote, RemoteError, cache_folder};
use crate::source::{
    Builtins, Entry, Problem, Resolved, SourceError, Sources, graph::load_with, test_folder::Folder,
};

/// Fetches one path; what the server was asked is what `asked` says, one path a line.
async fn check(path: &str, expected: &Expect, asked: &[&str]) {
    let server = Server::start().await;
    let remote = Remote::new(None, false, Some(server.authorities()));
    let shown = match remote.read(&server.module(path)).await {
        Ok(fetched) => fetched.text,
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&server.hide(&shown));
    assert_eq!(server.asked(), asked);
}

#[tokio::test]
async fn modules_are_asked_for_as_k6_does() {
    check(
        "/lib.js",
        &expect!["export const lib = 'grüße';"],
        &["/lib.js?_k6=1"],
    )
    .await;
    check(
        "/lib.js?v=2",
        &expect!["export const lib = 'grüße';"],
        &["/lib.js?v=2&_k6=1"],
    )
    .await;
    check(
        "/unmarked.js",
        &expect!["export {};"],
        &["/unmarked.js?_k6=1", "/unmarked.js"],
    )
    .await;
    check(
        "/moved",
        &expect!["export const lib = 'grüße';"],
        &["/moved?_k6=1", "/lib.js"],
    )
    .await;
}

#[tokio::test]
async fn other_answers_are_explained() {
    check(
        "/nothing.js",
        &expect![
            "cannot fetch https://server/nothing.js: the answer is 404 Not Found instead of \
        200; open the URL in a browser"
        ],
        &["/nothing.js?_k6=1", "/nothing.js"],
    )
    .await;
    check(
        "/circle",
        &expect!["cannot fetch https://server/circle: it redirects more than 5 times"],
        &[
            "/circle?_k6=1",
            "/circle",
            "/circle",
            "/circle",
            "/circle",
            "/circle",
        ],
    )
    .await;
    check(
        "/plain",
        &expect![[r#"cannot fetch https://server/plain: it redirects to "http://server.example/lib.js", but only redirects to https:// are followed"#]],
        &["/plain?_k6=1"],
    )
    .await;
    check(
        "/huge",
        &expect!["cannot fetch https://server/huge: the answer has more than 16777216 bytes"],
        &["/huge?_k6=1"],
    )
    .await;
    check(
        "/endless",
        &expect!["cannot fetch https://server/endless: the answer has more than 16777216 bytes"],
        &["/endless?_k6=1"],
    )
    .await;
    check(
        "/cut",
        &expect![
            "cannot fetch https://server/cut: the answer is incomplete: error reading a body from connection"
        ],
        &["/cut?_k6=1"],
    )
    .await;
    check(
        "/latin",
        &expect!["cannot fetch https://server/latin: the answer is not UTF-8"],
        &["/latin?_k6=1"],
    )
    .await;
}

/// The paused clock jumps to the deadline when nothing else is left to do.
#[tokio::test(start_paused = true)]
async fn servers_that_hang_are_given_up() {
    let server = Server::start().await;
    let remote = Remote::new(None, false, Some(server.authorities()));
    let error = remote.read(&server.module("/hang")).await.expect_err("no answer");
    expect!["cannot fetch https://server/hang: no complete answer within 60 s"]
        .assert_eq(&server.hide(&error.to_string()));
}

#[tokio::test]
async fn strangers_are_not_believed() {
    let server = Server::start().await;
    let remote = Remote::new(None, false, Some(Server::start().await.authorities()));
    let error = remote
        .read(&server.module("/lib.js"))
        .await
        .expect_err("another authority");
    let shown = error.to_string();
    assert!(shown.contains("certificate"), "{shown}");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn copies_are_fetched_once_and_verified() {
    let (server, folder) = (Server::start().await, Folder::with(&[]));
    let cache = folder.path().join("modules");
    let module = server.module("/lib.js");
    let read = async |is_offline| {
        let remote = Remote::new(Some(cache.clone()), is_offline, Some(server.authorities()));
        remote.read(&module).await
    };
    assert!(matches!(read(true).await, Err(RemoteError::Offline { .. })));
    let first = read(false).await.expect("the server has it");
    assert_eq!(first.notices, Vec::<String>::new());
    for is_offline in [true, false] {
        let again = read(is_offline).await.expect("it is in the cache");
        assert_eq!(again.text, first.text);
        assert!(
            again.notices[0].contains("read from the cache"),
            "{:?}",
            again.notices
        );
    }
    assert_eq!(server.asked().len(), 1);

    let copies: Vec<PathBuf> = fs::read_dir(&cache)
        .expect("it was made")
        .flatten()
        .map(|file| file.path())
        .collect();
    let [copy] = copies.as_slice() else {
        panic!("one copy, and nothing unfinished: {copies:?}");
    };
    let intact = fs::read(copy).expect("the copy");
    let half = intact[..intact.len() / 2].to_vec();
    let changed = [intact.as_slice(), b" "].concat();
    for damaged in [half, changed, Vec::new(), b"\xff".to_vec()] {
        fs::write(copy, damaged).expect("the test's own folder");
        assert!(matches!(read(true).await, Err(RemoteError::Damaged { .. })));
        let repaired = read(false).await.expect("the server has it");
        assert!(
            repaired.notices[0].contains("damaged and is fetched again"),
            "{:?}",
            repaired.notices
        );
        assert_eq!(fs::read(copy).expect("the copy"), intact);
    }
}

#[test]
fn the_cache_is_where_the_environment_says() {
    for (cache, home, expected) in [
        ("/c", "/h", Some("/c/plimsoll/modules")),
        ("", "/h", Some("/h/.cache/plimsoll/modules")),
        ("relative", "/h", Some("/h/.cache/plimsoll/modules")),
        ("", "", None),
    ] {
        let folder = cache_folder(|name| match name {
            "XDG_CACHE_HOME" => Some(cache.into()),
            "HOME" => Some(home.into()),
            _ => None,
        });
        assert_eq!(folder.as_deref(), expected.map(Path::new));
    }
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_only_told() {
    let (server, folder) = (Server::start().await, Folder::with(&[("file", "")]));
    let cache = folder.path().join("file");
    let remote = Remote::new(Some(cache), false, Some(server.authorities()));
    let fetched = remote
        .read(&server.module("/lib.js"))
        .await
        .expect("the server has it");
    assert!(
        fetched
            .notices
            .iter()
            .any(|notice| notice.contains("could not be saved in the cache")),
        "{:?}",
        fetched.notices
    );
}

async fn load(server: &Server, script: &str, is_offline: bool) -> Result<Sources, SourceError> {
    let folder = Folder::with(&[("chat.js", script)]);
    let remote = Remote::new(None, is_offline, Some(server.authorities()));
    let builtins = Builtins {
        present: &["k6", "k6/crypto", "k6/execution"],
        absent: &[],
        node: None,
    };
    load_with(Entry::File(folder.path().join("chat.js")), builtins, remote).await
}

#[tokio::test]
async fn fetched_modules_import_their_neighbours() {
    let server = Server::start().await;
    let script = format!("import {{ a }} from '{}';", server.module("/tree/a.js"));
    let sources = load(&server, &script, false).await.expect("all is there");
    let names = sources.modules[1..]
        .iter()
        .map(|module| server.hide(module.specifier.as_str()));
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["https://server/tree/a.js", "https://server/tree/b.ts"]
    );
    let script = format!("import '{}';", server.module("/nosy.js"));
    let error = load(&server, &script, false)
        .await
        .expect_err("it imports a file");
    expect![[r#"
        cannot import: "file:///etc/passwd" is a file, but a fetched module may only import other fetched modules
         --> https://server/nosy.js:1:8
        1 | import 'file:///etc/passwd';
          |        ^"#]].assert_eq(&server.hide(&error.to_string()));
}

#[tokio::test]
async fn equivalents_need_no_network() {
    let server = Server::start().await;
    let script = "import { uuidv4 } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';\n\
                  import { csrfToken } from 'http://anycable.io/xk6-cable/jslib/k6-rails/0.1.0/index.js';\n\
                  import { textSummary } from 'https://jslib.k6.io/k6-summary/0.0.1/index.js';";
    let sources = load(&server, script, true).await.expect("all is embedded");
    assert_eq!(sources.modules.len(), 4);
    assert_eq!(sources.notices.len(), 3, "{:?}", sources.notices);
    let utils = &sources.modules[1];
    assert_eq!(
        utils.imports[0].resolved,
        Resolved::Builtin("k6/crypto".to_owned())
    );
    let error = load(&server, "import 'https://x.example/lib.js';", true)
        .await
        .expect_err("not there");
    assert!(
        matches!(error.problem, Problem::Remote(RemoteError::Offline { .. })),
        "{error}"
    );
}
