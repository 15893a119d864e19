//! `plimsoll demo`: the whole product in one command. A server in a process of its own, a chat in it, real
//! users over real sockets, and a report that says what came of it.

mod chat;
mod progress;
mod room;
mod server_process;

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use plimsoll_clients::target::Target;
use plimsoll_load::{
    executor::{Executor, RampingVus, Stage},
    generator,
    histogram::Histogram,
    machine::Machine,
    metrics::Registry,
    plan::{self, Plan},
    preflight::{self, Needs},
    run::{self, RunConfig, RunResult},
    watch::{self, Account, Place, Sampling},
};
use plimsoll_report::{
    Distribution, Summary, json,
    summary::{Kind, Losses, Parts},
    timeline::Recorder,
};
use plimsoll_shootout::WatchArgs;
use tokio::task::LocalSet;

use crate::{
    exit::{Failure, Status},
    live::{self, Live, LiveFlags, LivePage, PageFlags},
    origin::origin,
    report::{self, ReportFlags},
    runs::{Keeper, SaveFlags},
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal, watching,
};
use chat::{Chat, Metrics};
use progress::ProgressLine;
use server_process::ServerProcess;

/// The share of checks that must pass (the threshold of the article's script: `rate>0.9`).
const LEAST_CHECKS_SHARE: f64 = 0.9;

const EXAMPLES: &str = "\
Examples:
  plimsoll demo                          200 users for 20 seconds
  plimsoll demo --users 1000 --time 60   more of them, for longer
  plimsoll demo --keep                   and leave the server up, to look at it with other tools
  plimsoll demo --ui                     a page with charts while it goes on; the chat is a click away
  plimsoll demo --report demo.html       the page with charts in a file of your choice
  plimsoll demo --format json            the figures for programs";

/// Start a chat server, send it real users, and report how it went.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Users at the peak.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    users: u32,
    /// Seconds for the whole curve: a third of the time up to a quarter of the users, more than half of it up to
    /// all, and then down to none.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    time: u32,
    /// Leave the server running when the demo ends.
    #[arg(long)]
    keep: bool,
    /// What is watched beside the server.
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    report: ReportFlags,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    live: LiveFlags,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    save: SaveFlags,
}

/// Forms of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What the chat's users did.
struct Loaded {
    result: RunResult,
    metrics: Metrics,
    /// Has observed them.
    recorder: Recorder,
    n_workers: usize,
    page: Option<LivePage>,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let keeper = self.save.keeper(false, surroundings);
        LocalSet::new().block_on(&runtime, self.run(keeper))
    }

    async fn run(self, keeper: Keeper) -> Result<Status, Failure> {
        self.report.check()?;
        self.check_limits()?;
        let server = ServerProcess::start(self.keep)?;
        let url = format!("ws://{}/cable", server.address());
        let mut talk = io::stderr();
        writeln!(talk, "A chat server is up: {url} (process {}).", server.pid())?;
        writeln!(talk, "Join the chat in a browser: http://{}/", server.address())?;
        writeln!(
            talk,
            "Up to {} users connect, subscribe, speak, wait for their own words and leave, for {} s.\n",
            self.users, self.time
        )?;

        let sampling = self.targets(&server).attach()?;
        let mut loaded = self.load(&url, &server, sampling.clone()).await?;
        let page = loaded.page.take();
        let accounts: Vec<_> = sampling.iter().flat_map(|sampling| sampling.finish()).collect();
        let summary = self.summary(loaded, &accounts)?;
        watching::tell_ended(&summary.targets);
        let printed = self.print(&summary);
        keeper.keep(&summary);
        if self.keep {
            writeln!(
                talk,
                "\nThe server stays up: {url}. Stop it with: kill {}",
                server.pid()
            )?;
        }
        match (self.report.is_empty(), self.format) {
            (true, Format::Text) => report::write_unasked(&summary),
            _ => self.report.write(&summary),
        }
        if let Some(page) = page {
            page.finish(&summary).await;
        }
        printed?;
        Ok(verdict(&summary))
    }

    /// The server comes first.
    fn targets(&self, server: &ServerProcess) -> WatchArgs {
        let server = watch::Target {
            name: Some("server".to_owned()),
            place: Place::Process(server.pid()),
        };
        let others = self.watch.targets.iter().cloned();
        WatchArgs {
            targets: [server].into_iter().chain(others).collect(),
        }
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

    async fn load(
        &self,
        url: &str,
        server: &ServerProcess,
        sampling: Option<Arc<Sampling>>,
    ) -> Result<Loaded, Failure> {
        let target = Target::parse(url)?;
        let mut registry = Registry::new();
        let metrics = Metrics::register(&mut registry)?;
        let factory = Arc::new(Chat::new(target, server.address(), metrics));
        let config = RunConfig {
            sampling,
            ..RunConfig::new(self.plan()?)
        };
        let signals = Signals::listen()?;
        let (screen, is_drawable) = Screen::stderr();
        let page = self.page(&config, &signals, server, &screen)?;
        let view = self.view(&config, &signals, screen, is_drawable)?;
        let n_workers = config.n_workers.get();
        let mut recorder = Recorder::new();
        let mut line = ProgressLine::new(io::stderr().is_terminal());
        let mut no_stages = ();
        let run = run::run(
            config,
            registry,
            factory,
            &mut no_stages,
            |progress| {
                recorder.observe(progress);
                if let Some(page) = &page {
                    page.observe(progress, &recorder);
                }
                match &view {
                    Some(view) => view.observe(progress),
                    None => line.show(progress, metrics.broadcast_duration()),
                }
            },
            signals.received(1),
        );
        let result = run.await;
        match view {
            Some(view) => drop(view),
            None => line.finish(),
        }
        Ok(Loaded {
            result: result?,
            metrics,
            recorder,
            n_workers,
            page,
        })
    }

    fn page(
        &self,
        config: &RunConfig,
        signals: &Signals,
        server: &ServerProcess,
        screen: &Screen<io::Stderr>,
    ) -> Result<Option<LivePage>, Failure> {
        let setting = live::PageSetting {
            kind: Kind::Demo,
            name: "demo",
            plan: &config.plan,
            control: config.control.clone(),
            signals: signals.clone(),
            sampling: config.sampling.clone(),
            link: Some((
                format!("http://{}/", server.address()),
                "Join the chat".to_owned(),
            )),
            // Nothing in it is secret.
            redact: Box::new(str::to_owned),
        };
        self.page.serve(setting, screen)
    }

    fn view(
        &self,
        config: &RunConfig,
        signals: &Signals,
        screen: Screen<io::Stderr>,
        is_drawable: bool,
    ) -> Result<Option<Live>, Failure> {
        self.live.start(live::Setting {
            name: "demo",
            plan: &config.plan,
            control: config.control.clone(),
            signals: signals.clone(),
            sampling: config.sampling.clone(),
            screen: Arc::new(screen),
            is_drawable,
            is_quiet: false,
            has_colour: terminal::style(&io::stderr()).color,
            // Nothing in it is secret.
            redact: Box::new(str::to_owned),
        })
    }

    /// The stages of the article's script.
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

    fn summary(&self, loaded: Loaded, accounts: &[Account]) -> Result<Summary, Failure> {
        let Loaded {
            result,
            metrics,
            recorder,
            n_workers,
            page: _,
        } = loaded;
        let account = metrics.account(&result.metrics);
        let latency = result.metrics.trend(metrics.broadcast_duration()).map(p95);
        let health = generator::judge(&result.generator, result.schedule, latency);
        Ok(Summary::new(Parts {
            origin: origin(Kind::Demo, "demo", &Machine::read()),
            plan: &self.plan()?,
            n_workers,
            run: &result,
            recorder,
            health: &health,
            losses: Some(Losses {
                expected: account.n_expected,
                received: account.n_received,
                lost: account.n_lost(),
                duplicated: account.n_duplicated,
                out_of_order: account.n_out_of_order,
            }),
            accounts,
            trend_stats: &plan::TREND_STATS.map(str::to_owned),
        }))
    }

    fn print(&self, summary: &Summary) -> io::Result<()> {
        let mut stdout = io::stdout();
        match self.format {
            Format::Text => write!(stdout, "{}", summary.text(terminal::style(&stdout)))?,
            Format::Json => writeln!(stdout, "{}", json(summary)?)?,
        }
        stdout.flush()
    }
}

fn p95(histogram: &Histogram) -> Duration {
    Duration::from_micros(Distribution::from(histogram).p95)
}

fn verdict(summary: &Summary) -> Status {
    let (passes, fails) = summary.checks.iter().fold((0, 0), |(passes, fails), check| {
        (passes + check.passes, fails + check.fails)
    });
    let has_passed = passes as f64 > LEAST_CHECKS_SHARE * (passes + fails) as f64;
    let n_lost = summary.losses.map_or(0, |losses| losses.lost);
    let has_died = summary.targets.iter().any(|target| target.ended.is_some());
    match has_passed && n_lost == 0 && !has_died {
        true => Status::Success,
        false => Status::BadResult,
    }
}
