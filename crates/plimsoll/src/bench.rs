//! `plimsoll bench`: hands the process's streams to the workloads, and keeps what they came to.

use std::io::{self, IsTerminal};

use clap::{Args, Parser, Subcommand};
use plimsoll_load::machine::Machine;
use plimsoll_report::summary::Kind;
use plimsoll_shootout::{
    Bench, BroadcastArgs, ConnectArgs, EchoArgs, Error, HttpArgs, Prepared, Streams, Verdict,
};

use crate::{
    exit::{Failure, Status},
    live::PageFlags,
    origin::origin,
    report::ReportFlags,
    runs::SaveFlags,
    surroundings::Surroundings,
    terminal,
};

/// Run a workload of websocket-bench or ab against a server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[command(subcommand)]
    workload: Workload,
}

/// Measure how fast a server answers one HTTP request: ab's flags and report, and more.
#[derive(Debug, Parser)]
pub(crate) struct AbOptions {
    #[command(flatten)]
    http: Kept<HttpArgs>,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// Measure how fast a message from one client reaches all, with more and more clients
    Broadcast(Box<Kept<BroadcastArgs>>),
    /// Measure how fast clients get ready when many come at once
    Connect(Box<Kept<ConnectArgs>>),
    /// Measure how fast a message comes back to its sender, with more and more clients
    Echo(Box<Kept<EchoArgs>>),
    /// Measure how fast a server answers one HTTP request, as ab does; also `plimsoll ab`
    Http(Box<Kept<HttpArgs>>),
}

/// A workload with what becomes of its result.
#[derive(Debug, Args)]
struct Kept<A: Args> {
    #[command(flatten)]
    workload: A,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    save: SaveFlags,
    #[command(flatten)]
    page: PageFlags,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.workload {
            Workload::Broadcast(it) => it.execute(surroundings, Bench::Broadcast),
            Workload::Connect(it) => it.execute(surroundings, Bench::Connect),
            Workload::Echo(it) => it.execute(surroundings, Bench::Echo),
            Workload::Http(it) => it.execute(surroundings, |args| Bench::Http(Box::new(args))),
        }
    }
}

impl AbOptions {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        self.http
            .execute(surroundings, |args| Bench::Http(Box::new(args)))
    }
}

impl<A: Args> Kept<A> {
    fn execute(
        self,
        surroundings: &Surroundings<'_>,
        bench: impl FnOnce(A) -> Bench,
    ) -> Result<Status, Failure> {
        self.report.check()?;
        let bench = bench(self.workload);
        let keeper = self.save.keeper(bench.is_quiet(), surroundings);
        let bench = Prepared::try_from(bench).map_err(failure)?;
        let page = self.page.serve_bench(&bench.name(), &mut io::stderr())?;
        let (page, stops) = page.unzip();
        let streams = Streams {
            stdout: &mut io::stdout(),
            stderr: &mut io::stderr(),
            stderr_columns: io::stderr().is_terminal().then_some(|| terminal::size().0),
            stdin_is_terminal: io::stdin().is_terminal(),
        };
        let audience = page.as_ref().zip(stops).map(|(page, stops)| page.audience(stops));
        let finished = bench.execute(streams, audience).map_err(failure)?;
        let summary = finished.summarize(origin(Kind::Bench, &finished.name(), &Machine::read()));
        keeper.keep(&summary);
        self.report.write(&summary);
        if let Some(page) = page {
            page.finish(&summary)?;
        }
        match finished.verdict.map_err(failure)? {
            Verdict::Clean => Ok(Status::Success),
            Verdict::Faulty => Ok(Status::BadResult),
        }
    }
}

fn failure(error: Error) -> Failure {
    if error.is_wrong_usage() {
        Failure::Usage(error.to_string())
    } else {
        error.into()
    }
}
