//! Metrics of calls. Names are AnyCable's where AnyCable has the metric.

use std::time::Duration;

use plimsoll_telemetry::{Counter, Dependency, Histogram, Registry};

use crate::{
    proto::Method,
    status::{Code, Status},
};

/// The metrics of calls, and whether the application can be reached.
pub(crate) struct Meter {
    calls: Counter,
    retries: Counter,
    errors: Counter,
    timeouts: Counter,
    canceled: Counter,
    durations: [Durations; Method::COUNT],
    pub(crate) dependency: Dependency,
}

struct Durations {
    ok: Histogram,
    error: Histogram,
}

impl Meter {
    pub(crate) fn new(registry: &Registry) -> Self {
        let durations = |method: Method| {
            let histogram = |status| {
                registry.histogram(
                    "rpc_call_duration_seconds",
                    "Duration of calls to the application, from the request of the session to the result, with \
                     waiting and retries",
                    &[("command", method.http_segment()), ("status", status)],
                )
            };
            Durations {
                ok: histogram("ok"),
                error: histogram("error"),
            }
        };
        Self {
            calls: registry.counter("rpc_call_total", "Attempts of calls to the application"),
            retries: registry.counter("rpc_retries_total", "Attempts that repeat a failed attempt"),
            errors: registry.counter("rpc_error_total", "Calls without a usable reply"),
            timeouts: registry.counter("rpc_timeout_total", "Calls that ended because of a time limit"),
            canceled: registry.counter("rpc_canceled_total", "Calls that the application's side canceled"),
            durations: Method::ALL.map(durations),
            dependency: registry.dependency("rpc"),
        }
    }

    /// Counts the beginning of an attempt after `n_failures` failed ones.
    pub(crate) fn attempt(&self, n_failures: u32) {
        self.calls.increment();
        if n_failures > 0 {
            self.retries.increment();
        }
    }

    /// Counts the end of a call, with or without a reply.
    pub(crate) fn call_ended(&self, method: Method, took: Duration, failure: Option<&Status>) {
        let durations = &self.durations[method as usize];
        let Some(failure) = failure else {
            durations.ok.observe(took);
            return;
        };
        durations.error.observe(took);
        self.errors.increment();
        match failure.code() {
            Code::DeadlineExceeded => self.timeouts.increment(),
            Code::Cancelled => self.canceled.increment(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let meter = Meter::new(&Registry::default());
        meter.attempt(0);
        meter.attempt(1);
        let took = Duration::from_millis(1);
        meter.call_ended(Method::Command, took, None);
        meter.call_ended(Method::Command, took, Some(&Status::internal("")));
        meter.call_ended(Method::Command, took, Some(&Status::deadline_exceeded("")));
        meter.call_ended(Method::Command, took, Some(&Status::new(Code::Cancelled, "")));
        let counters = [
            &meter.calls,
            &meter.retries,
            &meter.errors,
            &meter.timeouts,
            &meter.canceled,
        ];
        assert_eq!(counters.map(Counter::get), [2, 1, 3, 1, 1]);
    }
}
