//! Samples as lines of a file: the thread that writes them, for every format.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use plimsoll_load::metrics::{Batch, Sample, SampleReceiver};

use crate::Outcome;

/// The format of samples in a file.
pub(crate) trait Format {
    /// What comes before the first sample.
    fn header(&self) -> String;

    /// Appends a sample.
    fn sample(&mut self, batch: &Batch, sample: &Sample, out: &mut String);
}

/// The destination of the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The standard output.
    Stdout,
    /// A file of this name, which is replaced; one that ends in `.gz` is compressed.
    File(String),
}

impl Place {
    /// A file, or `-`.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "-" => Self::Stdout,
            name => Self::File(name.to_owned()),
        }
    }

    pub(crate) fn open(&self, stdout: &mut Option<Box<dyn Write + Send>>) -> io::Result<Sink> {
        match self {
            Self::Stdout => {
                let taken = || io::Error::other("another output has the standard output");
                Ok(Sink::Plain(stdout.take().ok_or_else(taken)?))
            }
            Self::File(name) => {
                let file = File::create(name)?;
                Ok(if name.ends_with(".gz") {
                    Sink::Compressed(Box::new(GzEncoder::new(file, Compression::fast())))
                } else {
                    Sink::Plain(Box::new(file))
                })
            }
        }
    }
}

/// An open file.
pub(crate) enum Sink {
    Plain(Box<dyn Write + Send>),
    Compressed(Box<GzEncoder<File>>),
}

impl Sink {
    /// Writes it so that others can read it at once.
    fn write(&mut self, text: &str) -> io::Result<()> {
        let file: &mut dyn Write = match self {
            Self::Plain(file) => file,
            Self::Compressed(file) => file,
        };
        file.write_all(text.as_bytes())?;
        file.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Compressed(file) => file.try_finish(),
        }
    }
}

/// Writes until the queue ends. The first error ends the writing, and later samples are counted as lost: half a line
/// may be in the file, and retries do not help with a full disk.
pub(crate) fn write(mut receiver: SampleReceiver, mut format: impl Format, mut sink: Sink) -> Outcome {
    let mut outcome = Outcome::default();
    let mut text = format.header();
    let mut state = sink.write(&text);
    while let Some(batch) = receiver.blocking_recv() {
        let n_samples = batch.samples.len() as u64;
        if state.is_ok() {
            text.clear();
            for sample in &batch.samples {
                format.sample(&batch, sample, &mut text);
            }
            state = sink.write(&text);
            if let Err(error) = &state {
                tracing::error!(%error, "An output cannot write and stops. The run goes on.");
            }
        }
        *(if state.is_ok() {
            &mut outcome.n_written
        } else {
            &mut outcome.n_failed
        }) += n_samples;
    }
    outcome.n_dropped = receiver.n_dropped();
    outcome.error = state
        .and_then(|()| sink.finish())
        .err()
        .map(|error| error.to_string());
    outcome
}

/// The names of tags that distinguish samples but are not dimensions (k6's metadata).
pub(crate) fn metadata_names(system_tags: &BTreeSet<String>) -> BTreeSet<String> {
    let names = ["vu", "iter"].into_iter().map(str::to_owned);
    names.filter(|name| system_tags.contains(name)).collect()
}
