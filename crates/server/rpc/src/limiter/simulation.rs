//! The adaptive limit, with simulated applications in virtual time.

use std::{cell::Cell, ops::RangeInclusive, rc::Rc, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    task::LocalSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{Bounds, Concurrency, Limiter, Load, Rank};
use crate::proto::Method;

const DEADLINE: Duration = Duration::from_secs(3);
const MS: Duration = Duration::from_millis(1);

/// An application with workers.
struct App {
    workers: Arc<Semaphore>,
    n_workers: usize,
    /// Whether calls that find no free worker are refused. A worker in four is free only a moment after its answer.
    refuses: bool,
    work: Box<dyn Fn() -> Duration>,
    /// Nothing is answered before this.
    stalled_until: Cell<Option<Instant>>,
    n_answers: Cell<u64>,
}

impl App {
    fn new(n_workers: usize, work: impl Fn() -> Duration + 'static) -> Self {
        Self {
            workers: Arc::new(Semaphore::new(n_workers)),
            n_workers,
            refuses: false,
            work: Box::new(work),
            stalled_until: Cell::default(),
            n_answers: Cell::new(0),
        }
    }

    async fn answer(&self) -> Load {
        let workers = || Arc::clone(&self.workers);
        let worker = match workers().try_acquire_owned() {
            Ok(worker) => worker,
            Err(_) if self.refuses => {
                sleep(MS).await;
                return Load::Refused;
            }
            Err(_) => workers().acquire_owned().await.expect("never closed"),
        };
        sleep((self.work)()).await;
        if let Some(end) = self.stalled_until.get() {
            sleep_until(end).await;
        }
        if self.refuses && self.n_answers.get().is_multiple_of(4) {
            tokio::task::spawn_local(async move {
                sleep(MS).await;
                drop(worker);
            });
        }
        self.n_answers.set(self.n_answers.get() + 1);
        Load::Answered
    }
}

/// A running simulation.
struct Run {
    app: Rc<App>,
    limiter: Rc<Limiter>,
}

impl Run {
    /// Starts `n_clients` clients, each of which makes one call after the other, with the default bounds.
    fn start(app: App, n_clients: usize) -> Self {
        let bound = |n| std::num::NonZeroUsize::new(n).expect("positive");
        let bounds = Bounds {
            initial: bound(25),
            min: bound(5),
            max: bound(100),
        };
        let run = Self {
            app: Rc::new(app),
            limiter: Rc::new(Limiter::new(Concurrency::Adaptive(bounds))),
        };
        for n in 0..n_clients {
            let (app, limiter) = (Rc::clone(&run.app), Rc::clone(&run.limiter));
            let method = [Method::Connect, Method::Command][n % 2];
            tokio::task::spawn_local(async move {
                loop {
                    let turn = limiter.turn(Rank::Command, None).await.expect("patient");
                    let load = timeout(DEADLINE, app.answer()).await.unwrap_or(Load::Overdue);
                    turn.end(method, load);
                    if load != Load::Answered {
                        sleep(10 * MS).await;
                    }
                }
            });
        }
        run
    }

    /// The mean of the full limit over ten seconds, and the share of the application's capacity that was used.
    async fn watch(&self) -> (f64, f64) {
        const N_LOOKS: u32 = 1000;
        let before = self.app.n_answers.get();
        let mut sum = 0;
        for _ in 0..N_LOOKS {
            sleep(10 * MS).await;
            sum += self.limiter.limit();
        }
        let n_answers = self.app.n_answers.get() - before;
        let mean_work = (0..N_LOOKS).map(|_| (self.app.work)()).sum::<Duration>() / N_LOOKS;
        let possible = 10.0 / mean_work.as_secs_f64() * self.app.n_workers as f64;
        (sum as f64 / f64::from(N_LOOKS), n_answers as f64 / possible)
    }
}

/// Latencies that vary as much as their mean, the same in every run.
fn exponential(mean: Duration) -> impl Fn() -> Duration {
    let random = std::cell::RefCell::new(fastrand::Rng::with_seed(7));
    move || mean.mul_f64(-(1.0 - random.borrow_mut().f64()).ln())
}

/// Runs 150 clients for `seconds`, then checks the limit of the next ten.
async fn check(app: App, seconds: u64, expected: RangeInclusive<f64>) {
    LocalSet::new()
        .run_until(async {
            let run = Run::start(app, 150);
            sleep(Duration::from_secs(seconds)).await;
            let (limit, use_of_app) = run.watch().await;
            assert!(expected.contains(&limit), "{limit} is not in {expected:?}");
            let best = (limit / run.app.n_workers as f64).min(1.0);
            assert!(
                use_of_app > 0.85 * best,
                "the application was used to {use_of_app}"
            );
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn settles_between_the_workers_and_twice_as_many() {
    for n_workers in [8, 30, 48] {
        let n = n_workers as f64;
        check(App::new(n_workers, || 50 * MS), 120, n..=2.0 * n).await;
        // Some workers are idle by chance, so a little less is enough.
        check(App::new(n_workers, exponential(50 * MS)), 120, 0.85 * n..=2.0 * n).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_application_that_is_merely_slow_or_erratic_is_given_more() {
    check(App::new(1000, || 800 * MS), 300, 90.0..=100.0).await;
    check(App::new(1000, exponential(100 * MS)), 120, 80.0..=100.0).await;
    // One call in twenty takes a hundred times as long.
    let random = std::cell::RefCell::new(fastrand::Rng::with_seed(3));
    let work = move || {
        if random.borrow_mut().u8(..20) == 0 {
            1000 * MS
        } else {
            50 * MS
        }
    };
    check(App::new(1000, work), 200, 80.0..=100.0).await;
}

/// Ruby's gRPC server, with subscriptions that take about 0.15 s. Checked from the second second on.
#[tokio::test(start_paused = true)]
async fn an_application_that_refuses_calls_beyond_its_workers_is_kept_busy() {
    let random = Rc::new(std::cell::RefCell::new(fastrand::Rng::with_seed(5)));
    for n_workers in [10, 30, 45] {
        let random = Rc::clone(&random);
        let app = App {
            refuses: true,
            ..App::new(n_workers, move || random.borrow_mut().u32(140..=160) * MS)
        };
        check_refusing(app, 0.9).await;
        // Calls that begin and end at the same instant meet workers that are not ready yet: the worst case.
        let app = App {
            refuses: true,
            ..App::new(n_workers, || 150 * MS)
        };
        check_refusing(app, 0.87).await;
    }
}

async fn check_refusing(app: App, min_use: f64) {
    LocalSet::new()
        .run_until(async {
            let run = Run::start(app, 1000);
            sleep(Duration::from_secs(1)).await;
            let (limit, use_of_app) = run.watch().await;
            let n = run.app.n_workers as f64;
            assert!(
                (0.95 * n - 1.0..=n + 2.0).contains(&limit),
                "{limit} for {n} workers"
            );
            assert!(use_of_app > min_use, "{n} workers were used to {use_of_app}");
        })
        .await;
}

/// As after a deployment with another number of threads.
#[tokio::test(start_paused = true)]
async fn an_application_that_refuses_may_get_more_or_fewer_workers() {
    LocalSet::new()
        .run_until(async {
            let app = App {
                refuses: true,
                ..App::new(40, || 50 * MS)
            };
            let run = Run::start(app, 150);
            sleep(Duration::from_secs(10)).await;
            let taken = run.app.workers.acquire_many(30).await.expect("never closed");
            sleep(Duration::from_secs(2)).await;
            let fewer = run.limiter.limit();
            assert!((8..=12).contains(&fewer), "{fewer} for 10 workers");
            drop(taken);
            sleep(Duration::from_secs(10)).await;
            let (more, _) = run.watch().await;
            assert!((37.0..=42.0).contains(&more), "{more} for 40 workers");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_stall_lowers_the_limit_for_a_while() {
    LocalSet::new()
        .run_until(async {
            let run = Run::start(App::new(30, || 50 * MS), 150);
            sleep(Duration::from_secs(60)).await;
            run.app
                .stalled_until
                .set(Some(Instant::now() + Duration::from_secs(12)));
            sleep(Duration::from_secs(12)).await;
            let limit = run.limiter.limit();
            assert!((5..30).contains(&limit), "{limit}");
            sleep(Duration::from_secs(30)).await;
            let (limit, use_of_app) = run.watch().await;
            assert!(
                (30.0..=60.0).contains(&limit) && use_of_app > 0.85,
                "{limit}, {use_of_app}"
            );
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_application_that_overruns_the_deadline_gets_fewer_calls() {
    // 25 calls of half a second on three workers take longer than a call's time limit.
    check(App::new(3, || 500 * MS), 60, 5.0..=18.0).await;
}

#[tokio::test(start_paused = true)]
async fn an_application_that_becomes_slower_keeps_its_limit() {
    let start = Instant::now();
    let slower = move || {
        if start.elapsed() < Duration::from_secs(60) {
            20 * MS
        } else {
            200 * MS
        }
    };
    check(App::new(30, slower), 80, 30.0..=70.0).await;
}
