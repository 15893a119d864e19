//! Renewals in virtual time, from a file.

use std::{fs, path::PathBuf};

use plimsoll_telemetry::Registry;
use serde_json::json;

use super::*;

const INTERVAL: Duration = Duration::from_secs(300);

/// A key set in a temporary file, deleted on drop.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(name: &str) -> Self {
        let file = Self(std::env::temp_dir().join(format!("plimsoll-jwks-{}-{name}", std::process::id())));
        file.write(1);
        file
    }

    /// Writes a set of this many keys.
    fn write(&self, n_keys: usize) {
        let key = json!({"kty": "OKP", "crv": "Ed25519", "x": "PBGswUIR74EzKlN7LFqqsyLlx_abo6fqQNUx9pMiAFc"});
        let set = json!({"keys": vec![key; n_keys]}).to_string();
        fs::write(&self.0, set).expect("the temporary directory can be written");
    }

    fn corrupt(&self) {
        fs::write(&self.0, "{").expect("the temporary directory can be written");
    }

    async fn open(&self) -> Jwks {
        let (jwks, renewal) = self.open_idle().await;
        tokio::spawn(renewal.run());
        jwks
    }

    async fn open_idle(&self) -> (Jwks, Renewal) {
        let location = self.0.display().to_string().parse().expect("a path");
        let dependency = Registry::default().dependency("jwks");
        Jwks::open(location, INTERVAL, dependency).await.expect("a set")
    }
}

/// Asks for keys newer than the current ones.
async fn newer(jwks: &Jwks) -> bool {
    jwks.renew(&jwks.snapshot()).await
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        fs::remove_file(&self.0).expect("the file is there");
    }
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_again_on_an_interval() {
    let file = KeyFile::new("interval");
    let jwks = file.open().await;
    assert_eq!(jwks.snapshot().keys.n_keys(), 1);
    file.write(2);
    tokio::time::sleep(INTERVAL - Duration::from_secs(1)).await;
    assert_eq!(jwks.snapshot().keys.n_keys(), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(jwks.snapshot().keys.n_keys(), 2);
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_on_request_but_not_in_a_flood() {
    let file = KeyFile::new("request");
    let jwks = file.open().await;
    file.write(2);
    assert!(newer(&jwks).await);
    assert_eq!(jwks.snapshot().keys.n_keys(), 2);
    file.write(3);
    for _ in 0..1000 {
        assert!(newer(&jwks).await);
        assert_eq!(jwks.snapshot().keys.n_keys(), 2);
    }
    tokio::time::sleep(MIN_TIME_BETWEEN_REQUESTED).await;
    assert!(newer(&jwks).await);
    assert_eq!(jwks.snapshot().keys.n_keys(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_operator_may_ask_whenever_he_likes() {
    let file = KeyFile::new("operator");
    let jwks = file.open().await;
    for n_keys in [2, 3] {
        file.write(n_keys);
        let mut known = jwks.known.clone();
        known.mark_unchanged();
        jwks.read_again();
        known.changed().await.expect("it is run");
        assert_eq!(jwks.snapshot().keys.n_keys(), n_keys);
    }
}

#[tokio::test(start_paused = true)]
async fn those_who_ask_at_the_same_time_share_one_reading() {
    let file = KeyFile::new("herd");
    let jwks = file.open().await;
    file.write(2);
    let herd = (0..1000).map(|_| {
        let jwks = jwks.clone();
        async move { (newer(&jwks).await, jwks.snapshot().keys.n_keys()) }
    });
    for asked in herd.map(tokio::spawn).collect::<Vec<_>>() {
        assert_eq!(asked.await.expect("it ends"), (true, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_reading_answers_those_who_came_before_it() {
    let file = KeyFile::new("first");
    let (jwks, renewal) = file.open_idle().await;
    // This is the state of a set from the network when the server starts.
    renewal.known.send_modify(|known| known.is_current = false);
    file.write(2);
    let early = jwks.clone();
    let early = tokio::spawn(async move { (newer(&early).await, early.snapshot().keys.n_keys()) });
    tokio::task::yield_now().await;
    tokio::spawn(renewal.run());
    assert_eq!(early.await.expect("it ends"), (true, 2));
    file.write(3);
    assert!(newer(&jwks).await);
    assert_eq!(
        jwks.snapshot().keys.n_keys(),
        3,
        "nothing was read on request before"
    );
}

#[tokio::test(start_paused = true)]
async fn who_saw_no_keys_does_not_lead_to_a_second_reading_after_the_first() {
    let file = KeyFile::new("late");
    let (jwks, renewal) = file.open_idle().await;
    let seen = jwks.snapshot();
    // A set from the network may be read between the look at the keys and the request for newer ones.
    renewal.known.send_modify(|known| known.is_current = false);
    let _until = renewal.renew().await;
    tokio::spawn(renewal.run());
    file.write(2);
    assert!(jwks.renew(&seen).await);
    assert_eq!(
        jwks.snapshot().keys.n_keys(),
        1,
        "there is something newer than what was seen"
    );
    assert!(newer(&jwks).await);
    assert_eq!(
        jwks.snapshot().keys.n_keys(),
        2,
        "nothing was read on request before"
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_good_keys_stay_when_a_renewal_fails_and_it_is_tried_again_soon() {
    let file = KeyFile::new("failure");
    let jwks = file.open().await;
    file.corrupt();
    assert!(!newer(&jwks).await);
    assert_eq!(jwks.snapshot().keys.n_keys(), 1);
    file.write(2);
    tokio::time::sleep(RETRY_INTERVAL + Duration::from_secs(1)).await;
    assert_eq!(jwks.snapshot().keys.n_keys(), 2);
    assert!(newer(&jwks).await);
}

#[tokio::test]
async fn a_file_that_is_wrong_from_the_start_is_an_error() {
    let file = KeyFile::new("wrong");
    file.corrupt();
    for (path, expected) in [
        (
            file.0.display().to_string(),
            "is not a key set: decode the key set as JSON",
        ),
        (
            "no such file".to_owned(),
            "cannot read the key set no such file: No such file",
        ),
        ("/dev/zero".to_owned(), "it has more than 262144 bytes"),
    ] {
        let location = path.parse().expect("a path");
        let opened = Jwks::open(location, INTERVAL, Registry::default().dependency("jwks")).await;
        let error = opened.map(|_| ()).expect_err("no set").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
