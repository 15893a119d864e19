//! Runs `http` from checked options to a verdict.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use super::{
    options::HttpOptions,
    outcome::HttpOutcome,
    progress::Progress,
    report::{HtmlAttributes, Layout, csv, gnuplot, html, json, text},
    run::run,
};
use crate::{
    execute::{Company, Error, Finished, Format, Results, Streams, Verdict, create},
    talk::Talk,
};

/// The outputs of a run.
#[derive(Debug, Clone)]
pub struct HttpResults {
    /// How and where the report is written.
    pub report: Results,
    /// Which of ab's tables the text contains.
    pub layout: Layout,
    /// The attributes of a text as HTML (`-w`); `None` for plain text.
    pub html: Option<HtmlAttributes>,
    /// A file with the time of each percentage.
    pub csv: Option<PathBuf>,
    /// A file with a line per request; the options must keep samples for it.
    pub gnuplot: Option<PathBuf>,
}

/// A file for results, made before the run so that a wrong path is found before it.
struct ResultFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl ResultFile {
    fn make(path: Option<&PathBuf>) -> Result<Option<Self>, Error> {
        let Some(path) = path else { return Ok(None) };
        let file = create(path).map_err(|source| failed(Some(path), source))?;
        Ok(Some(Self {
            path: path.clone(),
            file: BufWriter::new(file),
        }))
    }

    fn write(mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        let written = content(&mut self.file).and_then(|()| self.file.flush());
        written.map_err(|source| failed(Some(&self.path), source))
    }
}

fn failed(path: Option<&PathBuf>, source: io::Error) -> Error {
    Error::Output {
        path: path.cloned(),
        source,
    }
}

/// Runs the bench to its end, or until an order stops it, and writes its result.
///
/// # Errors
/// [`Error`], when it was not done.
pub(crate) async fn execute(
    options: &HttpOptions,
    results: &HttpResults,
    streams: Streams<'_>,
    company: Company<'_>,
) -> Result<Finished, Error> {
    let [report, percentages, requests] =
        [&results.report.path, &results.csv, &results.gnuplot].map(|path| ResultFile::make(path.as_ref()));
    let (report, percentages, requests) = (report?, percentages?, requests?);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let mut progress = Progress::new(talk, streams.is_quiet, options.extent);
    // As in ab, exchanges stand before the report, where that does not have to be JSON.
    if report.is_none() && results.report.format == Format::Text {
        progress = progress.transcribing_to(streams.stdout);
    }
    let mut outcome = run(options, company, &mut progress).await?;
    let files = [report, percentages, requests];
    let told = tell(results, &mut outcome, files, streams.stdout);
    let verdict = told.and_then(|()| verdict(&outcome));
    Ok(Finished::http(verdict, outcome))
}

/// Writes the result and the files that were asked for.
fn tell(
    results: &HttpResults,
    outcome: &mut HttpOutcome,
    [report, percentages, requests]: [Option<ResultFile>; 3],
    stdout: &mut dyn Write,
) -> Result<(), Error> {
    let words = match results.report.format {
        Format::Text => match &results.html {
            Some(attributes) => html(outcome, attributes),
            None => text(outcome, results.layout),
        },
        Format::Json => json(outcome),
    };
    match report {
        Some(file) => file.write(|out| out.write_all(words.as_bytes()))?,
        None => {
            let written = stdout.write_all(words.as_bytes());
            written
                .and_then(|()| stdout.flush())
                .map_err(|source| failed(None, source))?;
        }
    }
    percentages.map_or(Ok(()), |file| file.write(|out| csv(outcome, out)))?;
    requests.map_or(Ok(()), |file| file.write(|out| gnuplot(outcome, out)))
}

fn verdict(outcome: &HttpOutcome) -> Result<Verdict, Error> {
    match &outcome.trouble {
        _ if outcome.is_interrupted => Ok(Verdict::Interrupted),
        Some(reason) => Err(Error::Ended {
            n_complete: outcome.tally.n_complete,
            reason: reason.clone(),
        }),
        None if outcome.is_faulty() => Ok(Verdict::Faulty),
        None => Ok(Verdict::Clean),
    }
}
