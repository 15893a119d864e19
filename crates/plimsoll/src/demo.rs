//! `plimsoll demo`: the whole product in one command. It starts a server with a chat as a separate process, connects
//! users over real sockets, and reports the result.

mod chat;
mod room;
mod server_process;

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use clap::Parser;
use plimsoll_clients::target;
use plimsoll_load::{
    executor::{Executor, RampingVus, Stage},
    metrics::Registry,
    plan::Plan,
    preflight::{self, Needs, UserKind},
    run::{RunEnd, RunResult},
    watch::{self, Place},
};
use plimsoll_report::{
    Summary, json, percentile,
    summary::{Kind, Losses},
};

use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    series::{SeriesFlags, Targeted, lead},
    session::{self, Beginning, Crowd, EngineTest, Finished, Format, Session, SessionFlags, Subject, Users},
    surroundings::Surroundings,
};
use chat::{Chat, Metrics};
use server_process::ServerProcess;

/// The share of checks that must pass: `rate>0.9`, the threshold of the usual k6 script for a chat.
const LEAST_CHECKS_SHARE: f64 = 0.9;

const EXAMPLES: &str = "\
Examples:
  plimsoll demo                          200 users for 20 seconds
  plimsoll demo --users 1000 --time 60   more of them, for longer
  plimsoll demo --keep                   keep the server running, to inspect it with other tools
  plimsoll demo --ui                     a page with charts during the run; the chat is one click away
  plimsoll demo --report demo.html       the page with charts in a file of your choice
  plimsoll demo --format json            the results for programs";

/// Start a chat server, load it with users, and report the result.
#[derive(Debug, Parser)]
#[command(
    after_help = EXAMPLES,
    mut_arg("against", |arg| arg.hide(true)),
    mut_arg("tolerance", |arg| arg.hide(true)),
    mut_arg("margin", |arg| arg.hide(true))
)]
pub(crate) struct Options {
    /// Number of users at the peak.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    users: u32,
    /// Total length in seconds: ramps to 25 % of the users in the first third, to 100 % over the next half, then down to 0.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    time: u32,
    /// Leave the server running when the demo ends.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    session: SessionFlags,
}

impl Options {
    pub(crate) fn execute(mut self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if let Some(outcome) = lead(&mut self, surroundings) {
            return outcome;
        }
        run_local(self.run(surroundings))
    }

    async fn run(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        self.check_limits()?;
        let session = Session::begin(&self.session, Beginning::plain(false), surroundings)?;
        let server = ServerProcess::start(self.keep)?;
        let (test, users) = ChatTest::new(&self, server)?;
        if !self.session.quiet {
            session.basis().screen().print(&test.welcome());
        }
        session.run_on_engine(test, users).await
    }

    fn check_limits(&self) -> Result<(), Failure> {
        let needs = Needs {
            n_connections: u64::from(self.users),
            destination: [127, 0, 0, 1].into(),
        };
        let plan = preflight::plan(&needs, &preflight::System::read());
        match plan.problems.into_iter().next() {
            Some(problem) => Err(Failure::Usage(format!("--users {}: {problem}", self.users))),
            None => Ok(()),
        }
    }

    /// The plan: a third of the time up to a quarter of the users, more than half of the time up to all users, and
    /// then down to none.
    fn plan(&self) -> Result<Plan, Failure> {
        let time = f64::from(self.time);
        let stage = |share: f64, target| Stage {
            duration: Duration::from_secs_f64(time * share),
            target,
        };
        let stages = vec![
            stage(1.0 / 3.0, self.users / 4),
            stage(7.0 / 12.0, self.users),
            stage(1.0 / 12.0, 0),
        ];
        let ramp = RampingVus::new((self.users / 10).max(1), stages)?;
        Ok(Plan::single(Executor::RampingVus(ramp)))
    }
}

impl Targeted for Options {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn refuse_series(&self) -> Result<(), &'static str> {
        if self.keep {
            return Err("--keep would leave a server behind for each run; remove --keep or --repeat");
        }
        Ok(())
    }

    fn target(&self) -> String {
        "demo".to_owned()
    }

    fn point_at(&mut self, _: &str) -> Result<(), Failure> {
        let message = "--against: the demo starts its own server, so there is no other one to compare it with; use \
                       plimsoll bench or plimsoll run for two servers of your own";
        Err(Failure::Usage(message.to_owned()))
    }
}

/// The chat, with its server.
struct ChatTest<'a> {
    options: &'a Options,
    server: ServerProcess,
    /// The URL of the server's page.
    page: String,
    plan: Plan,
    metrics: Metrics,
    losses: Option<Losses>,
}

impl<'a> ChatTest<'a> {
    fn new(options: &'a Options, server: ServerProcess) -> Result<(Self, Users<()>), Failure> {
        let target = target::Target::parse(&url(&server))?;
        let mut registry = Registry::new();
        let metrics = Metrics::register(&mut registry)?;
        let users = Users {
            factory: Arc::new(Chat::new(target, server.address(), metrics)),
            registry,
            stages: (),
        };
        let test = Self {
            options,
            page: format!("http://{}/", server.address()),
            server,
            plan: options.plan()?,
            metrics,
            losses: None,
        };
        Ok((test, users))
    }

    fn welcome(&self) -> String {
        let Options { users, time, .. } = self.options;
        format!(
            "A chat server is up: {} (process {}).\nJoin the chat in a browser: {}\nUp to {users} users connect, \
             subscribe, speak, wait for their own message and leave, for {time} s.\n\n",
            url(&self.server),
            self.server.pid(),
            self.page
        )
    }

    fn has_died(summary: &Summary) -> bool {
        summary.targets.iter().any(|target| target.ended.is_some())
    }
}

fn url(server: &ServerProcess) -> String {
    format!("ws://{}/cable", server.address())
}

impl EngineTest for ChatTest<'_> {
    type Stages = ();

    fn subject(&self) -> Subject<'_> {
        Subject {
            kind: Kind::Demo,
            name: "demo",
            plan: &self.plan,
            crowd: Crowd::of(UserKind::Scenario, &self.plan),
            leading: &[],
            link: Some((&self.page, "Join the chat")),
        }
    }

    fn targets(&self) -> Vec<watch::Target> {
        vec![watch::Target {
            name: Some("server".to_owned()),
            place: Place::Process(self.server.pid()),
        }]
    }

    fn finish(&mut self, result: &RunResult) {
        let account = self.metrics.account(&result.metrics);
        self.losses = Some(Losses {
            expected: account.n_expected,
            received: account.n_received,
            lost: account.n_lost(),
            duplicated: account.n_duplicated,
            out_of_order: account.n_out_of_order,
        });
    }

    fn latency(&self, result: &RunResult) -> Option<Duration> {
        let trend = result.metrics.trend(self.metrics.broadcast_duration());
        trend.map(|histogram| percentile(histogram, 95.0))
    }

    fn complete(&self, summary: &mut Summary) {
        summary.losses = self.losses;
    }

    async fn print(&self, finished: &Finished<'_>, (): &()) -> Result<(), Failure> {
        let summary = finished.summary;
        let flags = &self.options.session;
        session::print(&match flags.format {
            Format::Text => summary.text(session::style(flags, &io::stdout())),
            Format::Json => format!("{}\n", json(summary)?),
        })?;
        if self.options.keep {
            writeln!(
                io::stderr(),
                "\nThe server keeps running: {}. Stop it with: kill {}",
                url(&self.server),
                self.server.pid()
            )?;
        }
        Ok(())
    }

    fn lists_causes(&self, (): &()) -> bool {
        self.options.session.format == Format::Text
    }

    fn reports_unasked(&self) -> bool {
        self.options.session.format == Format::Text
    }

    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure> {
        if finished.result.end == RunEnd::Shutdown {
            return Err(finished.ender.failure());
        }
        let summary = finished.summary;
        let (passes, fails) = summary.checks.iter().fold((0, 0), |(passes, fails), check| {
            (passes + check.passes, fails + check.fails)
        });
        let has_passed = passes as f64 > LEAST_CHECKS_SHARE * (passes + fails) as f64;
        let n_lost = self.losses.map_or(0, |losses| losses.lost);
        if has_passed && n_lost == 0 && !Self::has_died(summary) {
            Ok(Status::Success)
        } else {
            Ok(Status::BadResult)
        }
    }
}
