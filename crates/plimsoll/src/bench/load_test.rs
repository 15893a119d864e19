//! A bench as a load test. It has no virtual users of the engine: its own coordinator runs it and prints the result as
//! steps end.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use plimsoll_load::{machine::Machine, plan::Plan, preflight::UserKind};
use plimsoll_report::{
    Summary,
    summary::{Kind, Values},
};
use plimsoll_shootout::{self as shootout, Bench, Error, Interrupt, Streams, Verdict};
use tokio::{sync::mpsc, time::Instant};

use super::{
    fleet::{self, Errand},
    streams::{beside, plain},
    studio::Studio,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    origin::origin,
    session::{Company, Crowd, Ended, Ends, LoadTest, Subject},
    terminal,
};

/// The main figures of the workloads.
const LEADING: [&str; 6] = [
    "latency",
    "listener_delivery",
    "delivery",
    "rtt",
    "recovery",
    "connect",
];

/// A bench that is ready to go.
pub(super) struct BenchTest {
    bench: Bench,
    name: String,
    /// A plan without scenarios: the engine runs none, and the number of clients over time is not planned.
    plan: Plan,
    is_quiet: bool,
    /// What a fleet has to do; `None` if the clients are in this process.
    errand: Option<Errand>,
}

impl BenchTest {
    pub(super) fn new(bench: Bench, is_quiet: bool, errand: Option<Errand>) -> Self {
        Self {
            name: bench.name(),
            bench,
            plan: Plan::new(Vec::new()),
            is_quiet,
            errand,
        }
    }
}

impl LoadTest for BenchTest {
    type Result = Result<Verdict, Error>;

    const TAKES_SECOND_SIGNAL: bool = true;

    fn subject(&self) -> Subject<'_> {
        let (n_first, n_most) = self.bench.n_clients();
        Subject {
            kind: Kind::Bench,
            name: &self.name,
            plan: &self.plan,
            crowd: Crowd {
                kind: UserKind::Native,
                n_planned: n_first as u64,
                n_most: n_most as u64,
                records: self.bench.records(),
            },
            leading: &LEADING,
            link: None,
        }
    }

    fn is_elsewhere(&self) -> bool {
        self.errand.is_some()
    }

    fn progress(&self, _: &[String]) -> Option<String> {
        None
    }

    async fn run(&mut self, company: Company) -> Result<(Self::Result, Summary), Failure> {
        let Company {
            control,
            ends,
            samples,
            sampling,
            watchers,
            screen,
            outing,
        } = company;
        let has_view = watchers.has_view();
        let (mut stdout, mut stderr) = if has_view { beside(&screen) } else { plain() };
        let is_terminal = io::stderr().is_terminal() && !has_view;
        let streams = Streams {
            stdout: &mut *stdout,
            stderr: &mut *stderr,
            stderr_columns: is_terminal.then_some(|| terminal::size().0),
            is_quiet: self.is_quiet || has_view,
        };
        let studio = watchers.may_look().then(|| Studio::open(Arc::clone(&watchers)));
        let studio = studio.transpose()?;
        let (field, agents) = match &self.errand {
            None => (None, None),
            Some(errand) => {
                let (field, agents) = errand
                    .muster(&mut self.bench, sampling.as_deref(), ends.first())
                    .await?;
                (Some(field), Some(agents))
            }
        };
        let (orders, interrupt) = mpsc::channel(2);
        tokio::task::spawn_local(pass_on(ends, orders));
        let company = shootout::Company {
            interrupt: Interrupt::new(interrupt),
            onlooker: studio.as_ref().map(Studio::onlooker),
            samples,
            sampling,
            agents,
        };
        control.begin(Instant::now());
        let executing = self.bench.execute(streams, company);
        let finished = match field {
            None => executing.await,
            Some(field) => field.carry_during(executing).await,
        };
        if let Some(studio) = studio {
            studio.close();
        }
        let finished = finished.map_err(|error| failure(&error))?;
        let mut summary = finished.summarize(origin(Kind::Bench, &self.name, &Machine::read()));
        if let Some(reason) = finished.missing() {
            outing.misses(reason.to_owned());
        }
        if !finished.shares().is_empty() {
            let agents = fleet::agents(finished.shares(), main_latency(&summary));
            summary = summary.with_agents(agents);
        }
        Ok((finished.verdict, summary))
    }

    async fn print(&self, _: &Ended<'_, Self::Result>) -> Result<(), Failure> {
        Ok(())
    }

    fn expects_failures(&self) -> bool {
        self.bench.expects_failures()
    }

    fn verdict(&self, ended: &Ended<'_, Self::Result>) -> Result<Status, Failure> {
        match ended.result.as_ref().map_err(failure)? {
            Verdict::Interrupted => Err(ended.ender.failure()),
            Verdict::Clean => Ok(Status::Success),
            Verdict::Faulty => Ok(Status::BadResult),
        }
    }
}

/// The 95th percentile of the first of the main figures that the run has.
fn main_latency(summary: &Summary) -> Option<Duration> {
    let trend = |name: &&str| match summary.metrics.get(*name)?.values {
        Values::Trend(trend) => Some(Duration::from_micros(trend.p95)),
        _ => None,
    };
    LEADING.iter().find_map(trend)
}

/// Makes orders: the first one ends the bench in good order, the second one at once.
async fn pass_on(ends: Ends, orders: mpsc::Sender<()>) {
    // There is room for both.
    ends.first().await;
    let _over = orders.try_send(());
    ends.second().await;
    let _over = orders.try_send(());
}

pub(super) fn failure(error: &Error) -> Failure {
    if error.is_wrong_usage() {
        return Failure::Usage(error.to_string());
    }
    if error.is_interruption() {
        return TestFailure::Interrupted
            .because("the run was interrupted by a signal before it began, so there is no result");
    }
    Failure::Runtime(error.to_string().into())
}
