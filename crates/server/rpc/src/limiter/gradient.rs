//! An adaptive limit: does the application answer faster when it has fewer calls at the same time?
//!
//! An application with N workers answers N calls as fast as one. More calls queue inside it, and every call takes
//! longer, in proportion. So from time to time, while calls wait for their turn, one period is run with half of the
//! limit. The ratio of the two latencies is the gradient: 1 means that all calls were worked on, and the limit may
//! grow; 2 means that at least half of them were queueing. The rule `limit × HEADROOM / gradient` settles at `HEADROOM
//! × N`.
//!
//! Only consecutive periods are compared, never today's latency with a better one of yesterday: an application that is
//! merely slow, or has become slower, keeps its limit. Means are geometric, so that single slow calls do not dominate,
//! and each kind of call is compared with itself.
//!
//! A refusal says more: an application that answers "no free worker" has about as many workers as it has calls at that
//! moment. So each refusal lowers the limit by one, and a few answers in a row raise it by one: the limit stays near N.
//! No period with half of the limit is needed then, because calls do not queue inside such an application.
//!
//! A call that was not answered in time lowers the limit by a whole step. Decision 5 has the reasons and the
//! alternatives.

use std::time::Duration;

use tokio::time::Instant;

use super::Bounds;
use crate::proto::Method;

/// The ratio of the limit to the number of workers: high enough that a worker finds the next call waiting, and that
/// queueing shows in the latency.
const HEADROOM: f64 = 1.5;

/// The largest change by one comparison, up or down. Symmetric, so that noise cancels out.
const MAX_STEP: f64 = 1.3;

/// The length of a period with half of the limit, in answers per unit of the lowered limit.
const HALF_ANSWERS: usize = 4;

/// The fewest answers for a mean. With fewer, its error would be more than a seventh if latencies vary as much as their
/// mean.
const MIN_ANSWERS: usize = 50;

/// Answers of a full period for each answer of the half period that follows. So the half periods cost less than a
/// twentieth of the application's throughput.
const FULL_PER_HALF: usize = 20;

/// The shortest full period, however fast the application is.
const FULL_PERIOD: Duration = Duration::from_secs(1);

/// Consecutive answers that raise the limit by one, for an application that refuses calls beyond its workers. Each
/// refusal lowers it by one. With N calls for N workers one in five was refused, with N - 1 one in thirty, with N + 1
/// two in three: so the limit changes between N - 1 and N, and few calls are refused.
const ANSWERS_PER_STEP: usize = 6;

/// Consecutive answers at the limit after which the application may have become one that queues. One that refuses does
/// so after a dozen.
const ANSWERS_TO_FORGET: usize = 1000;

/// The largest growth before the first comparison, as a multiple of the first limit. The comparison takes seconds.
/// Until then the limit grows by one each time that as many calls as the limit were answered, because an application
/// with more workers would idle meanwhile.
const MAX_EARLY_GROWTH: usize = 2;

/// See the module's text.
#[derive(Debug)]
pub(super) struct Gradient {
    bounds: Bounds,
    /// Within the bounds. Only its whole part is used.
    limit: f64,
    workers: Workers,
    /// Answers since the limit last changed by one.
    n_answers: usize,
    /// When a refusal last counted. Refusals of calls that started before do not count again.
    refused: Instant,
    /// Calls that started before this say nothing about the current limit.
    since: Instant,
    period: Period,
    latencies: Latencies,
}

/// What is known about the application's workers.
#[derive(Debug, Clone, Copy)]
enum Workers {
    /// Nothing: no comparison was made, and no call was refused.
    Unknown,
    /// Calls beyond the workers queue inside the application.
    Queueing,
    /// Calls beyond the workers are refused. Counts the answers since the last refusal.
    Refusing { n_answers: usize },
}

#[derive(Debug)]
enum Period {
    Full,
    /// A period with half of the limit, with the latencies of the full period before it.
    Half {
        full: Latencies,
    },
}

/// Sums of the logarithms of latencies, per method.
#[derive(Debug, Default, Clone, Copy)]
struct Latencies([Sum; Method::COUNT]);

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    n: usize,
    ln_seconds: f64,
}

impl Gradient {
    pub(super) fn new(bounds: Bounds, now: Instant) -> Self {
        Self {
            bounds,
            limit: as_f64(bounds.initial.get()),
            workers: Workers::Unknown,
            n_answers: 0,
            refused: now,
            since: now,
            period: Period::Full,
            latencies: Latencies::default(),
        }
    }

    /// The current limit of calls in progress, at least one.
    pub(super) fn limit(&self) -> usize {
        let limit = whole(self.limit);
        match self.period {
            Period::Full => limit,
            Period::Half { .. } => (limit / 2).max(1),
        }
    }

    /// Records an answer to a call that started at `started`, while the limit was reached.
    pub(super) fn answered(&mut self, method: Method, started: Instant, now: Instant) {
        match self.workers {
            Workers::Refusing { n_answers } if n_answers < ANSWERS_TO_FORGET => {
                self.workers = Workers::Refusing {
                    n_answers: n_answers + 1,
                };
                self.grow_after(ANSWERS_PER_STEP);
                return;
            }
            Workers::Unknown if self.limit() < MAX_EARLY_GROWTH * self.bounds.initial.get() => {
                self.grow_after(self.limit());
            }
            Workers::Refusing { .. } => {
                self.workers = Workers::Queueing;
                self.begin(Period::Full, now);
            }
            Workers::Unknown | Workers::Queueing => {}
        }
        if started >= self.since {
            self.compare(method, now - started, now);
        }
    }

    fn compare(&mut self, method: Method, latency: Duration, now: Instant) {
        self.latencies.add(method, latency);
        let n = self.latencies.n();
        let half = (HALF_ANSWERS * whole(self.limit) / 2).max(MIN_ANSWERS);
        match self.period {
            Period::Full => {
                if n >= half * FULL_PER_HALF && now - self.since >= FULL_PERIOD {
                    let full = self.latencies;
                    self.begin(Period::Half { full }, now);
                }
            }
            Period::Half { full } => {
                if n >= half {
                    let gradient = full.relative_to(&self.latencies);
                    let step = (HEADROOM / gradient).clamp(1.0 / MAX_STEP, MAX_STEP);
                    self.limit = self.bounded(self.limit * step);
                    self.workers = Workers::Queueing;
                    self.begin(Period::Full, now);
                }
            }
        }
    }

    /// Records that the application had no worker for a call that started at `started`. Of calls that started together
    /// only the first one counts: the lower limit is tried before the next one counts.
    pub(super) fn refused(&mut self, started: Instant, now: Instant) {
        if started <= self.refused {
            return;
        }
        self.refused = now;
        self.n_answers = 0;
        self.limit = self.bounded(self.limit - 1.0);
        self.workers = Workers::Refusing { n_answers: 0 };
        self.begin(Period::Full, now);
    }

    /// Records that a call that started at `started` was not answered in time. Counts once for all calls that were in
    /// progress together.
    pub(super) fn overdue(&mut self, started: Instant, now: Instant) {
        if started > self.since {
            self.limit = self.bounded(self.limit / MAX_STEP);
            self.begin(Period::Full, now);
        }
    }

    fn grow_after(&mut self, n_answers: usize) {
        self.n_answers += 1;
        if self.n_answers >= n_answers {
            self.n_answers = 0;
            self.limit = self.bounded(self.limit + 1.0);
        }
    }

    fn bounded(&self, limit: f64) -> f64 {
        limit.clamp(as_f64(self.bounds.min.get()), as_f64(self.bounds.max.get()))
    }

    fn begin(&mut self, period: Period, now: Instant) {
        self.period = period;
        self.since = now;
        self.latencies = Latencies::default();
    }
}

impl Latencies {
    fn add(&mut self, method: Method, latency: Duration) {
        let sum = &mut self.0[method as usize];
        sum.n += 1;
        sum.ln_seconds += latency.as_secs_f64().max(f64::MIN_POSITIVE).ln();
    }

    fn n(&self) -> usize {
        self.0.iter().map(|sum| sum.n).sum()
    }

    /// How many times longer these latencies are than `others`: the geometric mean over the methods that both have,
    /// weighted with the number of others.
    fn relative_to(&self, others: &Self) -> f64 {
        let both = || self.0.iter().zip(&others.0).filter(|(a, b)| a.n > 0 && b.n > 0);
        let weight: usize = both().map(|(_, other)| other.n).sum();
        if weight == 0 {
            return 1.0;
        }
        let ln_sum: f64 = both()
            .map(|(own, other)| (own.mean() - other.mean()) * as_f64(other.n))
            .sum();
        (ln_sum / as_f64(weight)).exp()
    }
}

impl Sum {
    fn mean(&self) -> f64 {
        self.ln_seconds / as_f64(self.n)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "limits and counts of a period are far below 2^52"
)]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits are positive and far below 2^52"
)]
fn whole(limit: f64) -> usize {
    limit as usize
}
