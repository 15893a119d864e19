//! Tests of sessions that wait for their clients, in virtual time.

use plimsoll_hub::{Budget, Format, Hub};

use super::*;

fn awaited(ttl_secs: u64, grace_secs: u64, max_bytes: usize) -> Arc<Awaited> {
    let settings = Resuming {
        ttl: Duration::from_secs(ttl_secs),
        disconnect_grace: Duration::from_secs(grace_secs),
        max_bytes,
    };
    Awaited::new(settings, None, &Registry::default())
}

fn record(identifiers: &str) -> Record {
    Record {
        identifiers: identifiers.into(),
        subscriptions: vec![("channel".into(), vec!["stream".into()])],
        environment: Environment::EMPTY,
        istate: Entries::EMPTY,
        hears_of_end: true,
        expires_at: None,
        absences: Vec::new(),
    }
}

fn session() -> SessionId {
    Hub::<()>::new(0, Budget::new(0)).insert((), Format(0))
}

fn is_granted(awaited: &Awaited, sid: &str) -> bool {
    matches!(awaited.claim(sid, &MayResume::Any), Claim::Granted(_))
}

/// The sessions about whose end the application is told.
fn sids(calls: Vec<DisconnectRequest>) -> Vec<Box<str>> {
    calls.into_iter().map(|call| call.sid).collect()
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_once_and_for_a_while() {
    let awaited = awaited(10, 0, usize::MAX);
    assert_eq!(sids(awaited.leave("a", record("kay"))), ["a".into()]);
    awaited.leave("b", record("kay"));
    assert!(!is_granted(&awaited, "forged"));
    assert!(is_granted(&awaited, "a"));
    assert!(!is_granted(&awaited, "a"), "it has gone on already");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(!is_granted(&awaited, "b"), "before any tick");
    assert_eq!(sids(awaited.tick()), [], "the application knows");
    let table = awaited.table();
    assert_eq!((table.away.len(), table.n_bytes), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_open_session_is_named_until_it_has_left() {
    let awaited = awaited(10, 0, usize::MAX);
    let id = session();
    awaited.opened("a", 3, id);
    let Claim::Open(open) = awaited.claim("a", &MayResume::Any) else {
        panic!("its connection is open");
    };
    assert_eq!((open.shard, open.session), (3, id));
    awaited.leave("a", record("kay"));
    open.end.await;
    assert!(is_granted(&awaited, "a"));
    awaited.opened("b", 3, id);
    awaited.closed("b");
    assert!(matches!(awaited.claim("b", &MayResume::Any), Claim::Unknown));
}

#[tokio::test(start_paused = true)]
async fn the_application_is_told_after_the_grace_unless_the_client_returns() {
    let awaited = awaited(10, 3, usize::MAX);
    for sid in ["a", "b", "c"] {
        assert_eq!(sids(awaited.leave(sid, record("kay"))), []);
    }
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(sids(awaited.tick()), []);
    assert!(is_granted(&awaited, "a"));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(sids(awaited.tick()), ["b".into(), "c".into()]);
    assert!(is_granted(&awaited, "b"), "the client may still come back");
    assert_eq!(sids(awaited.finish()), []);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_forgotten_earlier_is_told_at_once() {
    let awaited = awaited(2, 3600, usize::MAX);
    awaited.leave("a", record("kay"));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(sids(awaited.tick()), ["a".into()]);
    awaited.leave("b", record("kay"));
    assert_eq!(sids(awaited.finish()), ["b".into()]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_a_backend_has_ended_does_not_go_on() {
    let awaited = awaited(100, 50, usize::MAX);
    awaited.leave("a", record("kay"));
    awaited.leave("b", record("ann"));
    assert_eq!(sids(awaited.revoke("kay")), ["a".into()]);
    // Its connection broke before its shard read the command.
    assert_eq!(sids(awaited.leave("late", record("kay"))), ["late".into()]);
    assert!(!is_granted(&awaited, "a") && !is_granted(&awaited, "late"));
    assert!(is_granted(&awaited, "b"));
    tokio::time::advance(REVOKED_FOR + Duration::from_secs(1)).await;
    awaited.tick();
    awaited.leave("c", record("kay"));
    assert!(is_granted(&awaited, "c"), "a new session of the same user");
}

#[tokio::test(start_paused = true)]
async fn identifiers_that_were_disconnected_twice_count_from_the_second_time() {
    let awaited = awaited(100, 0, usize::MAX);
    let half = REVOKED_FOR / 2 + Duration::from_secs(1);
    awaited.revoke("kay");
    tokio::time::advance(half).await;
    awaited.revoke("kay");
    tokio::time::advance(half).await;
    awaited.tick();
    awaited.leave("a", record("kay"));
    assert!(
        !is_granted(&awaited, "a"),
        "the first order is over, the second is not"
    );
    tokio::time::advance(half).await;
    awaited.tick();
    awaited.leave("b", record("kay"));
    assert!(is_granted(&awaited, "b"));
    let table = awaited.table();
    assert_eq!((table.revoked.by_age.len(), table.revoked.names.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn two_connections_wait_for_one_end_and_others_are_not_woken() {
    let awaited = awaited(10, 0, usize::MAX);
    for sid in ["a", "b"] {
        awaited.opened(sid, 0, session());
    }
    let [first, second, other] = ["a", "a", "b"].map(|sid| match awaited.claim(sid, &MayResume::Any) {
        Claim::Open(open) => open.end,
        claim => panic!("its connection is open: {claim:?}"),
    });
    awaited.leave("a", record("kay"));
    first.await;
    second.await;
    assert!(tokio::time::timeout(Duration::from_secs(1), other).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_session_does_not_outlive_its_token() {
    let awaited = awaited(100, 0, usize::MAX);
    for (sid, end, expected) in [
        ("a", SystemTime::UNIX_EPOCH, false),
        ("b", SystemTime::now() + Duration::from_secs(3600), true),
    ] {
        awaited.leave(
            sid,
            Record {
                expires_at: Some(end),
                ..record("kay")
            },
        );
        assert_eq!(is_granted(&awaited, sid), expected, "{sid}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_must_prove_who_it_is_gets_its_own_session_only() {
    let awaited = awaited(100, 0, usize::MAX);
    awaited.leave("a", record("kay"));
    for may in [MayResume::Of("ann".to_owned()), MayResume::None] {
        assert!(matches!(awaited.claim("a", &may), Claim::Unknown), "{may:?}");
    }
    let may = MayResume::Of("kay".to_owned());
    assert!(
        matches!(awaited.claim("a", &may), Claim::Granted(_)),
        "it was not taken"
    );
}

#[tokio::test(start_paused = true)]
async fn the_oldest_sessions_make_room() {
    let awaited = awaited(100, 50, 5 * (RECORD_OVERHEAD + 1000));
    let mut told = Vec::new();
    for number in 0..20 {
        let long = format!("{number:0500}");
        told.extend(sids(awaited.leave(&number.to_string(), record(&long))));
        assert!(awaited.table().n_bytes <= 5 * (RECORD_OVERHEAD + 1000));
    }
    assert!(told.len() >= 13 && &*told[0] == "0", "{told:?}");
    assert_eq!(told.len() + awaited.table().away.len(), 20);
    assert!(is_granted(&awaited, "19"));
}
