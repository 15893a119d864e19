//! Tests of the rules of presence; `schedule` has those over any order of events.

use super::*;

mod schedule;

const SECOND: Duration = Duration::from_secs(1);

fn presence(announces_updates: bool, max_bytes: usize) -> Presence {
    Presence::new(Settings {
        ttl: 10 * SECOND,
        announces_updates,
        max_bytes,
    })
}

/// An event as text: `+s/kay {}`, `~s/kay {}`, `-s/kay`.
fn told(event: Option<Event>) -> String {
    let Some(Event { stream, id, change }) = event else {
        return String::new();
    };
    let info = |info: Option<Arc<str>>| info.map_or(String::new(), |info| format!(" {info}"));
    match change {
        Change::Joined(text) => format!("+{stream}/{id}{}", info(text)),
        Change::Updated(text) => format!("~{stream}/{id}{}", info(text)),
        Change::Left => format!("-{stream}/{id}"),
    }
}

#[track_caller]
fn join(presence: &mut Presence, id: &str, info: Option<&str>, expected: &str) -> Attendance {
    let (attendance, event) = presence.join("s", id, info).expect("it is not refused");
    assert_eq!(told(event), expected);
    attendance
}

fn members(presence: &Presence) -> Vec<(&str, Option<&str>)> {
    presence.members("s").collect()
}

#[test]
fn only_the_first_to_come_and_the_last_to_go_are_events() {
    let mut presence = presence(false, usize::MAX);
    let first = join(&mut presence, "kay", Some("1"), "+s/kay 1");
    let second = join(&mut presence, "kay", Some("2"), "");
    let other = join(&mut presence, "ann", None, "+s/ann");
    assert_eq!(members(&presence), [("ann", None), ("kay", Some("2"))]);
    assert_eq!(presence.members("s").len(), 2);
    assert_eq!(presence.members("another").len(), 0);
    assert_eq!(told(presence.leave(first)), "");
    assert_eq!(told(presence.leave(second)), "-s/kay");
    assert_eq!(presence.n_members(), 1);
    assert_eq!(told(presence.leave(other)), "-s/ann");
    assert_eq!((presence.n_members(), presence.n_bytes()), (0, 0));
    assert!(presence.streams.is_empty());
}

#[test]
fn a_changed_info_is_an_event_if_that_is_wanted() {
    let mut presence = presence(true, usize::MAX);
    let first = join(&mut presence, "kay", Some("1"), "+s/kay 1");
    let second = join(&mut presence, "kay", Some("1"), "");
    assert_eq!(told(presence.rejoin(&first, Some("22")).unwrap()), "~s/kay 22");
    assert_eq!(told(presence.rejoin(&second, Some("22")).unwrap()), "");
    assert_eq!(told(presence.rejoin(&second, None).unwrap()), "~s/kay");
    let third = join(&mut presence, "kay", Some("3"), "~s/kay 3");
    for attendance in [first, second, third] {
        presence.leave(attendance);
    }
    assert_eq!(presence.n_bytes(), 0);
}

#[test]
fn a_client_that_comes_back_in_time_never_left() {
    let mut presence = presence(false, usize::MAX);
    let kay = join(&mut presence, "kay", Some("1"), "+s/kay 1");
    let absence = presence.step_away(kay, 5 * SECOND);
    assert_eq!(
        (&*absence.stream, &*absence.id, absence.info.as_deref()),
        ("s", "kay", Some("1"))
    );
    assert!(!presence.is_due(14 * SECOND));
    assert_eq!(told(presence.expire(14 * SECOND)), "");
    let kay = presence.come_back(&absence).expect("it is in time");
    assert_eq!(presence.come_back(&absence), None, "it is back already");
    assert!(!presence.is_due(100 * SECOND));
    // Another session of the same user keeps the member.
    let absence = presence.step_away(kay, 20 * SECOND);
    let second = join(&mut presence, "kay", Some("1"), "");
    assert!(presence.is_due(30 * SECOND));
    assert_eq!(told(presence.expire(30 * SECOND)), "");
    assert_eq!(presence.come_back(&absence), None, "it is too late");
    presence.step_away(second, 31 * SECOND);
    let ann = join(&mut presence, "ann", None, "+s/ann");
    presence.step_away(ann, 32 * SECOND);
    assert_eq!(told(presence.expire(42 * SECOND)), "-s/kay");
    assert_eq!(told(presence.expire(42 * SECOND)), "-s/ann");
    assert_eq!(told(presence.expire(42 * SECOND)), "");
    assert_eq!(presence.n_bytes(), 0);
}

#[track_caller]
fn check_refusal(id: &str, info: Option<&str>, expected: Refusal) {
    let mut presence = presence(true, usize::MAX);
    assert_eq!(presence.join("s", id, info).err(), Some(expected));
    let (kay, _) = presence.join("s", "kay", None).unwrap();
    if id == "kay" {
        assert_eq!(presence.rejoin(&kay, info).err(), Some(expected));
    }
    presence.leave(kay);
    assert_eq!(presence.n_bytes(), 0);
}

#[test]
fn ids_and_infos_have_a_length() {
    check_refusal("", None, Refusal::EmptyId);
    let long = "x".repeat(MAX_INFO_BYTES + 1);
    check_refusal(&long[..=MAX_ID_BYTES], None, Refusal::LongId);
    check_refusal("kay", Some(&long), Refusal::LongInfo);
    let mut presence = presence(false, usize::MAX);
    let longest = presence.join("s", &long[..MAX_ID_BYTES], Some(&long[..MAX_INFO_BYTES]));
    assert!(longest.is_ok());
}

#[test]
fn members_take_a_bounded_amount_of_memory() {
    let mut presence = presence(false, 100_000);
    let mut attendances = Vec::new();
    let refusal = loop {
        let number = attendances.len();
        let info = format!("\"{}\"", "x".repeat(number % 1000));
        match presence.join(&format!("s{}", number % 7), &number.to_string(), Some(&info)) {
            Ok((attendance, _)) => attendances.push(attendance),
            Err(refusal) => break refusal,
        }
        assert!(presence.n_bytes() <= 100_000);
    };
    assert_eq!(refusal, Refusal::NoMemory);
    assert!(attendances.len() > 50, "{}", attendances.len());
    let long = "x".repeat(MAX_INFO_BYTES);
    let full = presence.rejoin(&attendances[0], Some(&long));
    assert_eq!(full, Err(Refusal::NoMemory));
    for attendance in attendances {
        presence.leave(attendance);
    }
    assert_eq!(presence.n_bytes(), 0);
}
