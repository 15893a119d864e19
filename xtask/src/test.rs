//! `cargo xtask test`: everything that must pass before a change lands, in the order in which mistakes are cheap.

mod setup;
mod step;
mod web;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use step::Step;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run these steps only (comma separated); `e2e` builds and sets up what it needs by itself.
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    only: Vec<Step>,
}

/// Runs the chosen steps and stops at the first that fails. The last line printed is the summary.
pub(crate) fn run(options: &Options) -> ExitCode {
    let start = Instant::now();
    let mut passed: Vec<String> = Vec::new();
    for step in chosen(&options.only) {
        let step_start = Instant::now();
        println!("\n== {step}: {}", step.about());
        let outcome = step.run();
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

/// All steps, or those named, in the fixed order and each once.
fn chosen(only: &[Step]) -> Vec<Step> {
    Step::ALL
        .into_iter()
        .filter(|step| only.is_empty() || only.contains(step))
        .collect()
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
        assert_eq!(chosen(&[]), Step::ALL);
        assert_eq!(chosen(&[Step::E2e, Step::Fmt, Step::Fmt]), [Step::Fmt, Step::E2e]);
    }
}
