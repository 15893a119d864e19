//! From the parsed command line to a verdict.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use tokio::{runtime::Builder, sync::mpsc};

use super::{
    options::HttpOptions,
    outcome::HttpOutcome,
    progress::Progress,
    report::{Layout, csv, gnuplot, json, text},
    run::run,
};
use crate::{
    args::{Format, HttpArgs},
    execute::{Error, Finished, Streams, Verdict, create, forward_stops},
    interrupt::Interrupt,
    onlooker::Audience,
    run::RunError,
    talk::Talk,
};

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

/// Runs the bench to its end. Ctrl-C ends it early with what there is; a second one does not wait for what is under way.
///
/// # Errors
/// [`Error`], when it was not done.
pub(crate) fn execute(
    args: &HttpArgs,
    options: &HttpOptions,
    streams: &mut Streams<'_>,
    audience: Option<Audience<'_>>,
) -> Result<Finished, Error> {
    let [results, percentages, requests] =
        [&args.filename, &args.csv, &args.gnuplot].map(|path| ResultFile::make(path.as_ref()));
    let (results, percentages, requests) = (results?, percentages?, requests?);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let mut progress = Progress::new(talk, args.quiet, options.extent);
    let (onlooker, stops) = audience.map(|it| (it.onlooker, it.stops)).unzip();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RunError::Start)?;
    let mut outcome = runtime.block_on(async {
        let (signals, interrupt) = mpsc::channel(2);
        let watch = tokio::spawn(forward_stops(stops, signals));
        let outcome = run(options, Interrupt::new(interrupt), &mut progress, onlooker).await;
        watch.abort();
        outcome
    })?;
    let files = [results, percentages, requests];
    let told = tell(args, &mut outcome, files, streams);
    let verdict = told.and_then(|()| verdict(&outcome));
    Ok(Finished::http(verdict, outcome))
}

/// Writes the result and the files that were asked for.
fn tell(
    args: &HttpArgs,
    outcome: &mut HttpOutcome,
    [results, percentages, requests]: [Option<ResultFile>; 3],
    streams: &mut Streams<'_>,
) -> Result<(), Error> {
    let report = match args.format {
        Format::Text => text(outcome, layout(args)),
        Format::Json => json(outcome),
    };
    match results {
        Some(file) => file.write(|out| out.write_all(report.as_bytes()))?,
        None => {
            let written = streams.stdout.write_all(report.as_bytes());
            written
                .and_then(|()| streams.stdout.flush())
                .map_err(|source| failed(None, source))?;
        }
    }
    percentages.map_or(Ok(()), |file| file.write(|out| csv(outcome, out)))?;
    requests.map_or(Ok(()), |file| file.write(|out| gnuplot(outcome, out)))
}

fn layout(args: &HttpArgs) -> Layout {
    Layout {
        shows_percentiles: !args.no_percentiles,
        shows_deviations: !args.no_deviations,
    }
}

fn verdict(outcome: &HttpOutcome) -> Result<Verdict, Error> {
    match &outcome.trouble {
        Some(reason) => Err(Error::Ended {
            n_complete: outcome.tally.n_complete,
            reason: reason.clone(),
        }),
        None if outcome.is_faulty() => Ok(Verdict::Faulty),
        None => Ok(Verdict::Clean),
    }
}
