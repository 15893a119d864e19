//! Tests of the streams for each kind of text.

use super::*;
use crate::{
    outcome::{Workload, examples},
    talk::Columns,
};

const BEGIN: Progress = Progress::Connecting {
    n_done: 0,
    n_total: 5,
    n_connected: 0,
};
const MIDDLE: Progress = Progress::Connecting {
    n_done: 3,
    n_total: 5,
    n_connected: 3,
};

/// Runs a short life of a console; returns (results, talk).
fn console(columns: Option<Columns>, format: Format) -> (String, String) {
    live(columns, format, false)
}

fn live(columns: Option<Columns>, format: Format, is_quiet: bool) -> (String, String) {
    let (mut results, mut talk) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut results, Talk::new(&mut talk, columns), format, is_quiet);
    console.progress(BEGIN);
    console.progress(MIDDLE);
    let step = examples::broadcast_step();
    let outcome = examples::outcome(Workload::Broadcast, vec![step.clone()]);
    console.step(&step, &outcome.setting);
    console.note("a remark");
    console.progress(BEGIN);
    console
        .finish(&examples::outcome(Workload::Broadcast, vec![step]))
        .unwrap();
    (
        String::from_utf8(results).unwrap(),
        String::from_utf8(talk).unwrap(),
    )
}

#[test]
fn without_a_terminal_each_phase_is_one_line() {
    let (results, talk) = console(None, Format::Text);
    assert!(results.starts_with("clients:  1000"), "{results}");
    assert_eq!(talk, "connecting 5 clients\na remark\n");
}

/// What a console without a terminal says about these phases, each with the seconds after the first one.
fn told(phases: &[(u64, Progress)]) -> String {
    let (mut results, mut talk) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut results, Talk::new(&mut talk, None), Format::Text, false);
    let begin = Instant::now();
    for (seconds, progress) in phases {
        console.announce(*progress, begin + Duration::from_secs(*seconds));
    }
    String::from_utf8(talk).unwrap()
}

#[test]
fn without_a_terminal_a_wait_is_told_again_and_again() {
    let waiting = |n_missing, silence| Progress::Waiting {
        n_missing,
        n_expected: 100,
        n_unanswered: 0,
        silence: Duration::from_secs(silence),
    };
    let sending = |silence| Progress::Sampling {
        n_done: 0,
        n_total: 20,
        n_connected: 5,
        n_in_flight: 4,
        silence: Duration::from_secs(silence),
    };
    let text = told(&[
        (0, sending(0)),
        (1, sending(1)),
        (11, sending(11)),
        (12, sending(12)),
        (15, waiting(90, 0)),
        (20, waiting(80, 0)),
        (25, waiting(10, 1)),
        (34, waiting(10, 9)),
        (36, waiting(10, 11)),
    ]);
    assert_eq!(
        text,
        "sending 20 messages, 5 clients\n\
         sending: 0 of 20 answered; 5 clients; 4 in flight; nothing has arrived for 11 s\n\
         waiting: 90 of 100 deliveries are missing\n\
         waiting: 10 of 100 deliveries are missing\n\
         waiting: 10 of 100 deliveries are missing; nothing has arrived for 11 s\n"
    );
}

#[test]
fn on_a_terminal_the_line_is_drawn_again_and_never_left_behind() {
    let (_, talk) = console(Some(|| 80), Format::Text);
    let line = "\r\x1b[2Kconnecting: 0 of 5; 0 clients";
    assert_eq!(talk, format!("{line}\r\x1b[2Ka remark\n{line}\r\x1b[2K"));
}

#[test]
fn a_quiet_one_makes_remarks_only() {
    for columns in [None, Some((|| 80) as Columns)] {
        let (results, talk) = live(columns, Format::Text, true);
        assert!(results.starts_with("clients:  1000"), "{results}");
        assert_eq!(talk, "a remark\n");
    }
}

#[test]
fn json_comes_once_and_alone() {
    let (results, _) = console(None, Format::Json);
    assert!(
        results.starts_with("{\n") && results.ends_with("}\n"),
        "{results}"
    );
}

#[test]
fn a_result_that_cannot_be_written_is_told_at_the_end() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (mut results, mut talk) = (Full, Vec::new());
    let mut console = Console::new(&mut results, Talk::new(&mut talk, None), Format::Text, false);
    let outcome = examples::outcome(Workload::Broadcast, vec![]);
    console.step(&examples::broadcast_step(), &outcome.setting);
    assert_eq!(
        console.finish(&outcome).unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
}
