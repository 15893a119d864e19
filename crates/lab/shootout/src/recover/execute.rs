//! Runs `recover` from checked options to a verdict.

use std::io::Write;

use super::{
    options::RecoverOptions,
    progress::Progress,
    report::{json, text},
    run::run,
};
use crate::{
    execute::{Company, Error, Finished, Format, Results, Streams, Verdict},
    talk::Talk,
};

/// Runs the bench to its end, or until an order stops it, and writes its result.
///
/// # Errors
/// [`Error`], when it was not done.
pub(crate) async fn execute(
    options: &RecoverOptions,
    results: &Results,
    streams: Streams<'_>,
    company: Company<'_>,
) -> Result<Finished, Error> {
    let mut file = results.create()?;
    let out = file
        .as_mut()
        .map_or(streams.stdout, |file| file as &mut dyn Write);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let mut progress = Progress::new(talk, streams.is_quiet, options.n_all());
    let outcome = run(options, company, &mut progress).await?;
    let words = match results.format {
        Format::Text => text(&outcome),
        Format::Json => json(&outcome),
    };
    let told = out.write_all(words.as_bytes()).and_then(|()| out.flush());
    let told = told.map_err(|source| results.failed(source));
    let verdict = told.map(|()| Verdict::of(outcome.is_interrupted, outcome.is_faulty()));
    Ok(Finished::recover(verdict, outcome))
}
