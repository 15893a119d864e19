//! Steps end when their deliveries have ended: counts, figures and exit for servers that are slow, silent, or gone.
//!
//! A delivery that is planted to come after a time is never measured as faster than that. How much slower it is depends on
//! the machine; `tests/foreign/bench-draining.test.mjs` compares that with the server's own clock.

use serde_json::Value;

use super::{
    Dialect, Fault, Finished, Server, exchanging, execute, execute_to,
    options::{broadcast, echo, quiet, scheduled},
    text,
};
use crate::{Exchange, Verdict, Waits};

/// Both models, by name, against a server with this fault, in two steps; closed with one broadcast at a time.
fn in_both_models(fault: Fault, edit: impl Fn(Exchange) -> Exchange, check: impl Fn(&str, &Finished)) {
    for (model, options) in [
        ("closed", broadcast as fn(&Server, usize, usize) -> Exchange),
        ("open", |server, n_steps, _| scheduled(server, n_steps)),
    ] {
        let server = Server::start(Dialect::Json, fault);
        let run = execute(exchanging(edit(options(&server, 2, 1))));
        check(model, &run);
    }
}

fn steps(run: &Finished) -> Vec<Value> {
    let json = run.json();
    let steps = json["steps"].as_array().unwrap();
    steps.iter().map(|step| step["plimsoll"].clone()).collect()
}

fn number(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("{pointer} of {value:#}"))
}

#[test]
fn deliveries_long_after_the_acknowledgement_are_waited_for_and_measured() {
    // Shorter than the silence that ends a step.
    in_both_models(
        Fault::Late(300),
        |options| options,
        |model, run| {
            assert_eq!(run.deliveries(), [180, 0, 0, 0, 0], "{model} {}", run.stdout);
            assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Clean, "{model}");
            for (step, n_clients) in steps(run).iter().zip([6, 12]) {
                assert_eq!(number(step, "/listener_us/count"), 10 * n_clients, "{model}");
                assert!(number(step, "/listener_us/min") >= 300_000, "{model} {step:#}");
                assert!(number(step, "/last_delivery_us/min") >= 300_000, "{model}");
                assert!(step["lower_bounds_from_us"].is_null());
                // The acknowledgement came at once, so all ten were on their way together.
                assert_eq!(number(step, "/in_flight/max"), 10, "{model} {step:#}");
            }
            let json = run.json();
            assert!(number(&json["steps"][0], "/per-delivery") >= 300);
        },
    );
}

#[test]
fn a_delivery_begins_the_silence_anew() {
    // Every client is 120 ms behind the one before it, and 300 ms of silence would end the step.
    let edit = |options| quiet(300, options);
    in_both_models(Fault::Drip(120), edit, |model, run| {
        assert_eq!(run.deliveries(), [180, 0, 0, 0, 0], "{model} {}", run.stdout);
        let steps = steps(run);
        assert!(number(&steps[0], "/last_delivery_us/min") >= 600_000, "{model}");
        assert!(number(&steps[1], "/last_delivery_us/min") >= 1_320_000, "{model}");
    });
}

#[test]
fn the_hard_cap_ends_a_step_that_still_gets_deliveries() {
    let edit = |options: Exchange| Exchange {
        waits: Waits {
            drain: std::time::Duration::from_millis(450),
            ..options.waits
        },
        ..options
    };
    // The sixth client of the first step would have each broadcast after a second, the cap comes before.
    in_both_models(Fault::Drip(200), edit, |model, run| {
        let [n_expected, n_lost, _, _, n_late] = run.deliveries();
        assert_eq!(n_expected, 180, "{model}");
        assert!(n_lost > 0, "{model}: of the second step");
        assert!(n_late > 0, "{model}: of the first step, in the second");
        assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Faulty);
    });
}

#[test]
fn deliveries_that_never_come_count_with_the_time_that_was_waited() {
    let edit = |options| quiet(400, options);
    in_both_models(Fault::LoseAll, edit, |model, run| {
        assert_eq!(run.deliveries(), [180, 180, 0, 0, 0], "{model} {}", run.stdout);
        assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Faulty, "{model}");
        for step in steps(run) {
            let n_expected = number(&step, "/n_deliveries_expected");
            assert_eq!(number(&step, "/listener_us/count"), n_expected, "{model}");
            assert_eq!(number(&step, "/n_deliveries"), 0);
            assert!(number(&step, "/lower_bounds_from_us") >= 400_000, "{model}");
            assert!(number(&step, "/listener_us/p50") >= 399_000, "{model}");
        }
        assert!(
            run.stderr.contains("step 1: 60 of 60 deliveries did not arrive"),
            "{model} {}",
            run.stderr
        );
        assert!(
            // The last acknowledgements of the open model may come after the first such line.
            run.stderr.contains("waiting: 60 of 60 deliveries are missing")
                || (run.stderr.contains(" deliveries are missing, and ")
                    && run.stderr.contains(" acknowledgement")),
            "{model} {}",
            run.stderr
        );
    });
}

#[test]
fn the_text_calls_times_of_missing_deliveries_lower_bounds() {
    let server = Server::start(Dialect::Json, Fault::LoseAll);
    let run = execute_to(text(), exchanging(quiet(400, broadcast(&server, 1, 2))));
    assert!(run.stdout.contains("listeners p50 > "), "{}", run.stdout);
    assert!(
        run.stdout.starts_with("clients:     6    95per-delivery: >"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("60 lost"), "{}", run.stdout);
}

#[test]
fn a_target_that_never_acknowledges_does_not_take_a_timeout_for_each_message() {
    let edit = |options| quiet(300, options);
    in_both_models(Fault::NoResults, edit, |model, run| {
        // The closed loop gives up after two in a row.
        let n_sent = if model == "closed" { 2 } else { 10 };
        for (step, n_clients) in steps(run).iter().zip([6, 12]) {
            assert_eq!(number(step, "/n_sent"), n_sent, "{model} {}", run.stderr);
            assert_eq!(number(step, "/n_unanswered"), n_sent, "{model}");
            assert_eq!(number(step, "/n_deliveries"), n_sent * n_clients, "{model}");
        }
        let told =
            "the target acknowledged none of 2 broadcasts in a row; the other 8 of this step are not sent";
        assert_eq!(run.stderr.contains(told), model == "closed", "{}", run.stderr);
        assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Faulty, "{model}");
    });
}

#[test]
fn a_target_that_dies_ends_its_step() {
    in_both_models(
        Fault::Die(3),
        |options| options,
        |model, run| {
            let steps = steps(run);
            assert_eq!(number(&steps[0], "/n_dropped"), 6, "{model} {}", run.stdout);
            let count = |key| number(&steps[0], key);
            assert_eq!(
                count("/n_deliveries") + count("/n_lost"),
                count("/n_deliveries_expected"),
                "{model}"
            );
            assert!(
                count("/n_deliveries") >= 12 && count("/n_lost") >= 6,
                "{model} {}",
                run.stdout
            );
            // A lost connection is no fast delivery.
            assert!(count("/listener_us/max") >= 1_000_000, "{model}");
            // The next step has clients of its own.
            assert_eq!(number(&steps[1], "/n_deliveries"), 60, "{model}");
            assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Faulty, "{model}");
        },
    );
}

#[test]
fn small_mistakes_are_counted_in_the_open_model_as_in_the_closed_one() {
    for (fault, deliveries, verdict) in [
        (Fault::Lose(3, 0), [180, 1, 0, 0, 0], Verdict::Faulty),
        (Fault::Repeat(3, 5), [180, 0, 1, 0, 0], Verdict::Clean),
    ] {
        in_both_models(
            fault,
            |options| quiet(500, options),
            |model, run| {
                assert_eq!(run.deliveries(), deliveries, "{model} {fault:?} {}", run.stdout);
                assert_eq!(run.verdict.as_ref().unwrap(), &verdict, "{model} {fault:?}");
            },
        );
    }
}

#[test]
fn a_schedule_is_kept_and_says_how_well() {
    let server = Server::start(Dialect::Json, Fault::None);
    let run = execute(exchanging(scheduled(&server, 1)));
    let step = run.first_step();
    assert_eq!(number(&step, "/send_lateness_us/count"), 10);
    assert_eq!(number(&step, "/n_sent"), 10);
    // Ten sends, the last one 90 ms after the first.
    assert!(step["sampling"]["seconds"].as_f64().unwrap() >= 0.09, "{step:#}");
    let load = &run.json()["plimsoll"]["load"];
    assert_eq!(
        load,
        &serde_json::json!({"model": "open", "rate_per_second": 100.0, "seconds": 0.1})
    );
}

#[test]
fn an_unexpected_welcome_is_recognised() {
    for options in [
        broadcast as fn(&Server, usize, usize) -> Exchange,
        |server, n_steps, _| echo(server, 6, n_steps, 10),
    ] {
        let server = Server::start(Dialect::Json, Fault::Welcome);
        let error = execute(exchanging(options(&server, 1, 1))).verdict.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the target speaks Action Cable: it sent a welcome; add --server-type actioncable, and --channel if its \
             channel is not BenchmarkChannel"
        );
    }
}
