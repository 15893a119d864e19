//! `plimsoll bench` and `plimsoll ab`: the workloads of websocket-bench and ab, and our own, as load tests.

use clap::{Args, Parser, Subcommand};

mod args;
mod detection;
mod enter;
mod fleet;
mod http_options;
mod load_test;
mod options;
mod recover_options;
mod streams;
mod studio;
mod trials;
mod typed;

#[cfg(test)]
pub(crate) use self::args::ABSENT_AB_FLAGS;
pub(crate) use self::{
    args::{BroadcastArgs, ConnectArgs, EchoArgs},
    fleet::{Errand, take_part},
    options::{UsageError, parse_header},
    trials::{Searched, of_flags as searched},
    typed::Typed,
};
use self::{
    args::{HttpArgs, RecoverArgs},
    load_test::BenchTest,
    typed::Places,
};
use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    series::{SeriesFlags, Targeted, lead},
    session::{Beginning, Session, SessionFlags},
    surroundings::Surroundings,
};

/// Run a workload of websocket-bench or ab, or one for clients that come back, against a server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[command(subcommand)]
    workload: Workload,
}

/// Measure how fast a server answers one HTTP request: ab's flags and report, and more.
#[derive(Debug, Parser)]
pub(crate) struct AbOptions {
    #[command(flatten)]
    http: Command<HttpArgs>,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// Measure how fast a message from one client reaches all clients, with more and more clients
    Broadcast(Box<Command<BroadcastArgs>>),
    /// Measure how fast clients become ready when many connect at once
    Connect(Box<Command<ConnectArgs>>),
    /// Measure how fast a message comes back to its sender, with more and more clients
    Echo(Box<Command<EchoArgs>>),
    /// Measure how fast a server answers one HTTP request, as ab does; also `plimsoll ab`
    Http(Box<Command<HttpArgs>>),
    /// Measure what clients lose when they are cut and come back, and how long they need to be whole again
    Recover(Box<Command<RecoverArgs>>),
}

/// A workload with the flags of all load tests. websocket-bench and ab have -f and -l for something else.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| arg.short(A::SHORT_OF_FORMAT)), mut_arg("linger", |arg| arg.short(None::<char>)))]
struct Command<A: Typed> {
    #[command(flatten)]
    workload: A,
    #[command(flatten)]
    session: SessionFlags,
    #[command(flatten)]
    fleet: A::Fleet,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.workload {
            Workload::Broadcast(it) => it.execute(surroundings),
            Workload::Connect(it) => it.execute(surroundings),
            Workload::Echo(it) => it.execute(surroundings),
            Workload::Http(it) => it.execute(surroundings),
            Workload::Recover(it) => it.execute(surroundings),
        }
    }
}

impl AbOptions {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        self.http.execute(surroundings)
    }
}

impl<A: Typed> Command<A> {
    fn execute(mut self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if let Some(format) = self.workload.format() {
            self.session.format = format;
        }
        if let Some(outcome) = lead(&mut self, surroundings) {
            return outcome;
        }
        let Self {
            mut workload,
            session,
            fleet,
        } = self;
        let wanted = fleet.wanted(surroundings)?;
        if wanted.is_some() {
            workload
                .check_fleet()
                .map_err(|mistake| Failure::Usage(mistake.to_string()))?;
        }
        session.check()?;
        detection::complete(&mut workload, session.quiet)?;
        let has_own_workers = workload.n_workers().is_some();
        let bench = workload.bench(session.format, &session.watch.targets);
        let bench = bench.map_err(|mistake| Failure::Usage(mistake.to_string()))?;
        if let Some(wanted) = &wanted {
            fleet::check(wanted, &bench)?;
            bench.check_job().map_err(|error| load_test::failure(&error))?;
        }
        if session.live.is_wanted() && bench.is_interactive() {
            let message =
                "--tui and --interactive both need the keyboard of the terminal; remove one of them";
            return Err(Failure::Usage(message.to_owned()));
        }
        run_local(async {
            let is_quiet = session.quiet;
            let session = Session::begin(&session, Beginning::plain(false), surroundings)?;
            if wanted.is_some() {
                session.check_fleet()?;
            }
            let errand = wanted.map(|wanted| Errand::new(wanted, has_own_workers));
            let test = BenchTest::new(bench, is_quiet, errand);
            session.run(test).await
        })
    }
}

impl<A: Typed> Targeted for Command<A> {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn target(&self) -> String {
        self.workload.url().to_owned()
    }

    /// Replaces the URL; a wrong one is reported by the workload itself, before any load.
    fn point_at(&mut self, url: &str) -> Result<(), Failure> {
        self.workload.set_url(url.to_owned());
        Ok(())
    }
}
