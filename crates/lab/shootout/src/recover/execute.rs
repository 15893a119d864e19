//! Runs `recover` from checked options to a verdict.

use std::{fs::File, io::Write};

use super::{
    options::RecoverOptions,
    progress::Progress,
    report::{json, text},
    run::run,
};
use crate::{
    execute::{Company, Error, Finished, Format, Results, Streams, Verdict, create},
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
    let path = results.path.as_ref();
    let failed = |source| Error::Output {
        path: path.cloned(),
        source,
    };
    let mut file: Option<File> = path.map(create).transpose().map_err(failed)?;
    let out = file
        .as_mut()
        .map_or(streams.stdout, |file| file as &mut dyn Write);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let mut progress = Progress::new(talk, streams.is_quiet, options.n_clients);
    let outcome = run(options, company, &mut progress).await?;
    let words = match results.format {
        Format::Text => text(&outcome),
        Format::Json => json(&outcome),
    };
    let told = out.write_all(words.as_bytes()).and_then(|()| out.flush());
    let verdict = told.map_err(failed).map(|()| {
        if outcome.is_interrupted {
            Verdict::Interrupted
        } else if outcome.is_faulty() {
            Verdict::Faulty
        } else {
            Verdict::Clean
        }
    });
    Ok(Finished::recover(verdict, outcome))
}
