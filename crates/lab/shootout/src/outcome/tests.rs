//! Verdicts and remarks.

use super::{examples::*, *};

#[test]
fn only_losses_and_failures_are_faults() {
    let check = |is_faulty: bool, change: fn(&mut Step)| {
        let mut step = broadcast_step();
        change(&mut step);
        let outcome = outcome(Workload::Broadcast, vec![broadcast_step(), step.clone()]);
        assert_eq!(outcome.is_faulty(), is_faulty, "{step:?}");
    };
    fn counts(step: &mut Step) -> &mut DeliveryCounts {
        &mut step
            .sampling
            .as_mut()
            .unwrap()
            .deliveries
            .as_mut()
            .unwrap()
            .counts
    }
    check(false, |_| {});
    check(false, |step| counts(step).n_duplicated = 1);
    check(false, |step| counts(step).n_out_of_order = 1);
    check(true, |step| counts(step).n_delivered -= 1);
    check(true, |step| step.sampling.as_mut().unwrap().n_unanswered = 1);
    check(true, |step| {
        step.drops.add("reset", "reset", 1, Duration::ZERO);
    });
    check(true, |step| {
        step.connect.failures.add("reset", "reset", 1, Duration::ZERO);
    });
}

#[test]
fn remarks_name_what_is_odd() {
    let mut outcome = outcome(Workload::Broadcast, vec![broadcast_step()]);
    assert_eq!(outcome.remarks(), Vec::<String>::new());
    outcome.steps.push(faulty_step());
    outcome.n_foreign = 5;
    outcome.is_interrupted = true;
    assert_eq!(
        outcome.remarks(),
        [
            "Missing received broadcasts: expected 200000, got 199993",
            "Extra received broadcasts: expected 200000, got 199996",
            "deliveries after the end of their step: 1 (the lines of their step call them lost, the totals do not; their \
             times are not measured)",
            "messages that this run did not send: 5 (is another load on the same channel?)",
            "interrupted before its end",
        ]
    );
}

#[test]
fn the_title_counts_further_servers() {
    for (n_further, expected) in [
        (0, "bench broadcast ws://a/cable"),
        (1, "bench broadcast ws://a/cable and 1 more server"),
        (2, "bench broadcast ws://a/cable and 2 more servers"),
    ] {
        assert_eq!(Workload::Broadcast.title("ws://a/cable", n_further), expected);
    }
}
