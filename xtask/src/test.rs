//! `cargo xtask test`: everything that must pass before a change lands, in the order in which mistakes are cheap.

mod foreign;
pub(crate) mod setup;
mod step;
mod web;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use step::Step;

/// What to run.
#[derive(Default, clap::Args)]
pub(crate) struct Options {
    /// Run these steps only (comma separated); `e2e` builds and sets up what it needs by itself.
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    only: Vec<Step>,
    /// Run only the steps that find most mistakes in the least time: fmt, clippy, tidy and unit.
    #[arg(long, conflicts_with_all = ["only", "long"])]
    quick: bool,
    /// Run only these end-to-end files (comma separated, without `.test.mjs`), and no other step.
    #[arg(long = "file", value_delimiter = ',', value_name = "NAME", conflicts_with_all = ["only", "quick", "long"])]
    files: Vec<String>,
    /// Run the end-to-end tests with the release binary, whose build takes longer.
    #[arg(long)]
    release: bool,
    /// Do what takes long, too: run each fuzz target for a minute (needs a nightly toolchain).
    #[arg(long)]
    long: bool,
}

/// Runs the chosen steps and stops at the first that fails. The last line printed is the summary.
pub(crate) fn run(options: &Options) -> ExitCode {
    let start = Instant::now();
    let mut passed: Vec<String> = Vec::new();
    for step in chosen(options) {
        let step_start = Instant::now();
        println!("\n== {step}: {}", step.about());
        let outcome = step.run(options);
        let took = seconds(step_start.elapsed());
        if let Err(error) = outcome {
            println!("== {step}: failed after {took}: {}", crate::chain(&*error));
            println!(
                "\nxtask test: FAILED at {step} after {} (passed: {})",
                seconds(start.elapsed()),
                list(&passed)
            );
            return ExitCode::FAILURE;
        }
        println!("== {step}: passed in {took}");
        passed.push(format!("{step} {took}"));
    }
    println!(
        "\nxtask test: passed in {} ({})",
        seconds(start.elapsed()),
        list(&passed)
    );
    ExitCode::SUCCESS
}

/// All steps, the quick steps, or the named steps, in the fixed order and each once. Long steps only on request.
fn chosen(options: &Options) -> Vec<Step> {
    if options.quick {
        return Step::QUICK.to_vec();
    }
    if !options.files.is_empty() {
        return vec![Step::E2e];
    }
    let is_chosen = |step: &Step| match options.only.as_slice() {
        [] => options.long || !step.is_long(),
        only => only.contains(step) || (options.long && step.is_long()),
    };
    Step::ALL.into_iter().filter(is_chosen).collect()
}

fn list(passed: &[String]) -> String {
    if passed.is_empty() {
        "none".into()
    } else {
        passed.join(", ")
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_their_order_and_run_once() {
        let check = |only: &[Step], long, expected: &[Step]| {
            let only = only.to_vec();
            let options = Options {
                only,
                long,
                ..Options::default()
            };
            assert_eq!(chosen(&options), expected);
        };
        let [usual @ .., Step::Fuzz] = Step::ALL else {
            panic!("what takes long comes last");
        };
        check(&[], false, &usual);
        check(&[], true, &Step::ALL);
        check(&[Step::E2e, Step::Fmt, Step::Fmt], false, &[Step::Fmt, Step::E2e]);
        check(&[Step::Fmt], true, &[Step::Fmt, Step::Fuzz]);
        check(&[Step::Fuzz], false, &[Step::Fuzz]);
        let quick = Options {
            quick: true,
            ..Options::default()
        };
        assert_eq!(chosen(&quick), Step::QUICK);
        let of_files = Options {
            files: vec!["wire".to_owned()],
            ..Options::default()
        };
        assert_eq!(chosen(&of_files), [Step::E2e]);
    }
}
