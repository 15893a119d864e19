//! Tests of the account: each fault of a server is counted exactly.

use super::*;

/// A client that has received messages 1 to 3 live, as offsets 11 to 13 of epoch `e`, and was then cut.
fn cut(follows_positions: bool) -> Account {
    let mut account = Account::new(follows_positions);
    for number in 1..=3 {
        let findings = arrive(&mut account, number);
        assert_eq!((findings.n_new, findings), (1, only(|it| it.n_new = 1)));
    }
    account
}

fn only(set: impl FnOnce(&mut Findings)) -> Findings {
    let mut findings = Findings::default();
    set(&mut findings);
    findings
}

fn arrive(account: &mut Account, number: u64) -> Findings {
    account.arrive(number, Some(("e", number + 10)), Instant::now())
}

fn missing(account: &Account, last: u64) -> u64 {
    account.n_missing(1..=last, &Ranges::default())
}

/// The findings of a client that needs messages up to 6 and gets these after its return, the answer behind them, and then
/// the `live` ones.
fn after_return(follows_positions: bool, replayed: &[u64], live: &[u64]) -> (Findings, u64) {
    let mut account = cut(follows_positions);
    account.begin_return(Instant::now(), 6, &Ranges::default());
    account.hold();
    let mut total = Findings::default();
    let mut add = |findings: Findings| {
        total.n_new += findings.n_new;
        total.n_repeated += findings.n_repeated;
        total.n_duplicated += findings.n_duplicated;
        total.n_reordered += findings.n_reordered;
        total.n_rearranged += findings.n_rearranged;
        total.recovery = total.recovery.or(findings.recovery).map(|_| Duration::ZERO);
    };
    for number in replayed {
        add(arrive(&mut account, *number));
    }
    add(account.answered(Instant::now()));
    for number in live {
        add(arrive(&mut account, *number));
    }
    let n_missing = missing(&account, 7);
    (total, n_missing)
}

#[test]
fn every_fault_of_a_server_is_counted_exactly() {
    const WHOLE: Option<Duration> = Some(Duration::ZERO);
    let check = |replayed: &[u64], live: &[u64], expected: Findings, n_lost: u64| {
        assert_eq!(
            after_return(true, replayed, live),
            (expected, n_lost),
            "{replayed:?} {live:?}"
        );
    };
    let good = |n_new| Findings {
        n_new,
        recovery: WHOLE,
        ..Findings::default()
    };
    check(&[4, 5, 6], &[7], good(4), 0);
    // Nothing is whole before the last missed message has come.
    check(&[4, 5], &[6, 7], good(4), 0);
    check(&[], &[], Findings::default(), 4);
    check(
        &[4, 6],
        &[7],
        Findings {
            recovery: None,
            ..good(3)
        },
        1,
    );
    // A message published between the welcome and the request comes live, and again in the replay.
    check(
        &[7, 4, 5, 6, 7],
        &[],
        Findings {
            n_repeated: 1,
            n_rearranged: 3,
            ..good(4)
        },
        0,
    );
    // A repetition behind the answer has the same position, too.
    check(
        &[4, 5, 6, 7],
        &[7],
        Findings {
            n_repeated: 1,
            ..good(4)
        },
        0,
    );
    // After the answer the order of arrival is what the application sees.
    check(
        &[4, 6],
        &[7, 5],
        Findings {
            n_reordered: 1,
            ..good(4)
        },
        0,
    );
}

#[test]
fn a_message_that_has_another_position_is_a_duplicate() {
    let mut account = cut(true);
    let now = Instant::now();
    assert_eq!(
        account.arrive(3, Some(("e", 14)), now),
        only(|it| it.n_duplicated = 1)
    );
    assert_eq!(
        account.arrive(3, Some(("f", 13)), now),
        only(|it| it.n_duplicated = 1)
    );
    assert_eq!(account.arrive(3, None, now), only(|it| it.n_duplicated = 1));
    // A position that was used twice makes the client drop a message that it does not have.
    assert_eq!(
        account.arrive(4, Some(("e", 14)), now),
        only(|it| it.n_repeated = 1)
    );
    assert_eq!(missing(&account, 4), 1);
}

#[test]
fn the_base_protocol_has_no_rule() {
    let (findings, n_lost) = after_return(false, &[7, 6], &[7]);
    let expected = Findings {
        n_new: 2,
        n_duplicated: 1,
        n_reordered: 1,
        ..Findings::default()
    };
    assert_eq!((findings, n_lost), (expected, 2));
}

#[test]
fn a_return_needs_only_what_earlier_ones_did_not_give_up() {
    let mut account = cut(true);
    account.begin_return(Instant::now(), 4, &Ranges::default());
    account.answered(Instant::now());
    assert!(account.is_returning() && account.give_up() && !account.give_up());
    account.begin_return(Instant::now(), 5, &Ranges::default());
    // A connection that breaks during the return does not make another one of it.
    account.begin_return(Instant::now(), 9, &Ranges::default());
    account.answered(Instant::now());
    assert!(arrive(&mut account, 5).recovery.is_some());
    assert_eq!(missing(&account, 5), 1);
}

#[test]
fn what_may_never_have_been_published_is_not_lost() {
    let account = cut(true);
    let mut uncertain = Ranges::default();
    // The client has message 2 although the answer to its publication was an error.
    [2, 4].into_iter().for_each(|number| {
        uncertain.insert(number);
    });
    assert_eq!(account.n_missing(1..=5, &uncertain), 1);
    let mut account = account;
    account.begin_return(Instant::now(), 4, &uncertain);
    assert!(account.answered(Instant::now()).recovery.is_some());
}

#[test]
fn a_server_that_never_answers_fills_no_memory() {
    let mut account = Account::new(true);
    account.begin_return(Instant::now(), 0, &Ranges::default());
    account.hold();
    let n_taken: u64 = (1..=MAX_HELD as u64 + 5)
        .map(|number| arrive(&mut account, number).n_new)
        .sum();
    assert_eq!(n_taken, MAX_HELD as u64);
    assert_eq!(account.release().n_new, 5);
}

#[test]
fn what_was_published_while_a_client_was_away_is_told_from_what_it_lost() {
    let mut uncertain = Ranges::default();
    let mut account = Account::new(false);
    [1, 2].into_iter().for_each(|number| {
        arrive(&mut account, number);
    });
    // Cut after 2, and subscribed again when 5 had begun. 4 came all the same, 6 never.
    account.was_away(account.highest() + 1..=5);
    [4, 7].into_iter().for_each(|number| {
        arrive(&mut account, number);
    });
    assert_eq!(
        (
            account.n_missing(1..=7, &uncertain),
            account.n_missed(1..=7, &uncertain)
        ),
        (3, 2)
    );
    uncertain.insert(5);
    assert_eq!(
        (
            account.n_missing(1..=7, &uncertain),
            account.n_missed(1..=7, &uncertain)
        ),
        (2, 1)
    );
    let none = RangeInclusive::new(1, 0);
    assert_eq!(account.n_missed(none, &uncertain), 0);
}
