//! Presence over any order of events, against a model that counts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// One thing that happens. Numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    Join { id: u8, info: u8 },
    Leave(usize),
    GoAway(usize),
    ComeBack(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3_u8, 0..3_u8).prop_map(|(id, info)| Step::Join { id, info }),
        any::<usize>().prop_map(Step::Leave),
        any::<usize>().prop_map(Step::GoAway),
        any::<usize>().prop_map(Step::ComeBack),
        (0..7_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Events of an id alternate, beginning with a join, and say at each moment whether anyone attends under it.
    #[test]
    fn joins_and_leaves_alternate_and_are_true(steps in prop::collection::vec(step(), 1..80)) {
        let mut presence = presence(false, usize::MAX);
        let mut now = Duration::ZERO;
        let mut attendances: Vec<Attendance> = Vec::new();
        let mut absences: Vec<(Duration, Absence)> = Vec::new();
        let mut announced: BTreeMap<String, bool> = BTreeMap::new();
        for step in steps {
            let mut events = Vec::new();
            match step {
                Step::Join { id, info } => {
                    let (attendance, event) = presence
                        .join("s", &id.to_string(), Some(&info.to_string()))
                        .unwrap();
                    attendances.push(attendance);
                    events.extend(event);
                }
                Step::Leave(n) if !attendances.is_empty() => {
                    let attendance = attendances.swap_remove(n % attendances.len());
                    events.extend(presence.leave(attendance));
                }
                Step::GoAway(n) if !attendances.is_empty() => {
                    let attendance = attendances.swap_remove(n % attendances.len());
                    absences.push((now, presence.step_away(attendance, now)));
                }
                Step::ComeBack(n) if !absences.is_empty() => {
                    let (since, absence) = absences.swap_remove(n % absences.len());
                    let back = presence.come_back(&absence);
                    prop_assert_eq!(back.is_some(), now < since + 10 * SECOND);
                    attendances.extend(back);
                }
                Step::Wait(secs) => {
                    now += Duration::from_secs(secs);
                    events.extend(std::iter::from_fn(|| presence.expire(now)));
                }
                Step::Leave(_) | Step::GoAway(_) | Step::ComeBack(_) => {}
            }
            for event in events {
                let is_there = event.change != Change::Left;
                let before = announced.insert(event.id.to_string(), is_there);
                prop_assert_ne!(before.unwrap_or(false), is_there, "{} twice", event.id);
            }
            let absent = absences
                .iter()
                .filter(|(since, _)| now < *since + 10 * SECOND)
                .map(|(_, absence)| &*absence.id);
            let mut there: Vec<&str> = attendances.iter().map(Attendance::id).chain(absent).collect();
            there.sort_unstable();
            there.dedup();
            let told = announced.iter().filter(|(_, is_there)| **is_there);
            let told: Vec<&str> = told.map(|(id, _)| &**id).collect();
            prop_assert_eq!(&told, &there);
            let listed: Vec<&str> = presence.members("s").map(|(id, _)| id).collect();
            prop_assert_eq!(listed, there);
        }
        for attendance in attendances {
            presence.leave(attendance);
        }
        while presence.expire(Duration::MAX).is_some() {}
        prop_assert_eq!((presence.n_members(), presence.n_bytes()), (0, 0));
    }
}
