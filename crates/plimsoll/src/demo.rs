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

/// The most users of a demo.
const MAX_USERS: u32 = 100_000;

/// The share of checks that must pass: `rate>0.9`, the threshold of the usual k6 script for a chat.
const LEAST_CHECKS_SHARE: f64 = 0.9;

/// Loads that are held. Reason: memory per user has an interval from three loads on, and the fourth makes it narrow.
const N_STEPS: u32 = 4;

/// The length of each ramp in units of time. Whole units, because a load is recognised as held by whole seconds, and a
/// unit of the default length is one second.
const RAMP_UNITS: u32 = 1;

/// How long each step but the last is held, in units of time.
const HELD_UNITS: u32 = 3;

/// How long the last step is held, in units of time.
const LAST_HELD_UNITS: u32 = 6;

/// The units of the whole demo.
const N_UNITS: u32 = N_STEPS * RAMP_UNITS + (N_STEPS - 1) * HELD_UNITS + LAST_HELD_UNITS + RAMP_UNITS;

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
    /// Number of users of the highest step.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_USERS)))]
    users: u32,
    /// Total length in seconds: holds a quarter, half, three quarters and all of the users, the last for twice as long.
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

    /// The plan: four equal steps, each a short ramp to a load that is then held, and a short ramp down. The highest load
    /// is held the longest. Reason: the headline is about it.
    fn plan(&self) -> Result<Plan, Failure> {
        let unit = f64::from(self.time) / f64::from(N_UNITS);
        let stage = |units: u32, target| Stage {
            duration: Duration::from_secs_f64(unit * f64::from(units)),
            target,
        };
        let steps = (1..=N_STEPS).flat_map(|step| {
            // 64 bits, and never more than all users.
            let target = (u64::from(self.users) * u64::from(step)).div_ceil(u64::from(N_STEPS)) as u32;
            let held = if step == N_STEPS {
                LAST_HELD_UNITS
            } else {
                HELD_UNITS
            };
            [stage(RAMP_UNITS, target), stage(held, target)]
        });
        let stages = steps.chain([stage(RAMP_UNITS, 0)]).collect();
        let ramp = RampingVus::new(0, stages)?;
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
             subscribe, speak, wait for their own message and leave, in {N_STEPS} steps, for {time} s.\n\n",
            url(&self.server),
            self.server.pid(),
            self.page
        )
    }

    fn has_died(summary: &Summary) -> bool {
        summary.targets.iter().any(|target| target.ended.is_some())
    }
}

/// What the figures mean, and what to do next.
fn next_steps(users: u32) -> String {
    let more = users.saturating_mul(5).min(MAX_USERS);
    let larger = format!("plimsoll demo --users {more} --ui");
    format!(
        "\
What it means: rtt is the time from saying something to hearing it, broadcast_duration the time until
each listener hears it. The number of users is the demo's choice, not the server's limit.

Next:
  {larger:<36} more users, and charts during the run
  plimsoll probe URL --write chat.js   what your own server demands of clients, and a script for it
  plimsoll line chat.js                how many users your server carries"
    )
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

    async fn announce(&self, finished: &Finished<'_>) {
        let flags = &self.options.session;
        if flags.format == Format::Text && !flags.quiet && finished.result.end != RunEnd::Shutdown {
            // What cannot be told is no failure of the demo.
            let _told = writeln!(io::stderr(), "\n{}", next_steps(self.options.users));
        }
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

    fn lists_causes(&self, _: &Finished<'_>, (): &()) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_holds_rising_loads_up_to_all_users_and_ends_on_time() {
        for (users, loads) in [
            (200, [50, 100, 150, 200]),
            (3, [1, 2, 3, 3]),
            (1, [1; 4]),
            (100_000, [25_000, 50_000, 75_000, 100_000]),
        ] {
            let (mut held, mut loads) = (Vec::new(), Vec::from(loads));
            let words = ["demo", "--users", &users.to_string(), "--time", "20"];
            let options = Options::try_parse_from(words).unwrap();
            let plan = options.plan().unwrap();
            let Executor::RampingVus(ramp) = &plan.scenarios[0].executor else {
                panic!("{plan:?}");
            };
            for at in [1.5, 3.9, 5.5, 7.9, 9.5, 11.9, 13.5, 18.9].map(Duration::from_secs_f64) {
                held.push(ramp.n_planned(at));
            }
            held.dedup();
            loads.dedup();
            assert_eq!(held, loads);
            assert_eq!(ramp.duration(), Duration::from_secs(20));
        }
    }
}
