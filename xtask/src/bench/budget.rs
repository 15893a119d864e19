//! Budgets: the limit of each figure, and how a measured figure compares with it.

use std::fmt;

use serde_json::{Value, json};

/// The most that a figure may be.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    what: &'static str,
    at_most: f64,
    unit: &'static str,
}

/// CPU of a bare exchange on the machine where the budgets in µs were set: `send` took 2.3 to 3.1 µs and `recv` 2.2 to
/// 4.0 µs there. The dearest of both, which makes the strictest ratios.
const REFERENCE_EXCHANGE_US: f64 = 3.1 + 4.0;

/// Server CPU per delivery, one broadcast in flight, as a multiple of a bare `send` loop.
pub(super) const FANOUT_1: Budget = Budget {
    what: "server CPU per delivery, 1 broadcast in flight",
    at_most: 1.4,
    unit: "× limit",
};
/// The same with eight in flight: several messages leave in one system call.
pub(super) const FANOUT_8: Budget = Budget {
    what: "server CPU per delivery, 8 broadcasts in flight",
    at_most: 0.4,
    unit: "× limit",
};
/// Resident memory of the server per subscribed connection.
pub(super) const IDLE: Budget = Budget {
    what: "server RSS per subscribed idle connection",
    at_most: 3072.0,
    unit: "bytes",
};
/// Server CPU of one connect and subscribe, ten thousand at once.
pub(super) const AVALANCHE: Budget = Budget {
    what: "server CPU per connect + subscribe",
    at_most: 60.0,
    unit: "µs",
};
/// Connections that failed in the avalanche.
pub(super) const AVALANCHE_FAILED: Budget = Budget {
    what: "failed connections",
    at_most: 0.0,
    unit: "connections",
};
/// Load client CPU per received delivery, as a multiple of a bare `recv` loop.
pub(super) const CLIENT: Budget = Budget {
    what: "load client CPU per received delivery",
    at_most: 1.5,
    unit: "× limit",
};
/// Client CPU per HTTP request, as a multiple of wrk's.
pub(super) const HTTP: Budget = Budget {
    what: "client CPU per HTTP request",
    at_most: 1.3,
    unit: "× wrk",
};
/// Server CPU of one connect and subscribe with an application over gRPC, the application's own CPU not included.
pub(super) const RPC_CONNECT: Budget = Budget {
    what: "server CPU per connect + subscribe",
    at_most: 110.0,
    unit: "µs",
};
/// Server CPU of one action and its answer, as above.
pub(super) const RPC_PERFORM: Budget = Budget {
    what: "server CPU per action over gRPC",
    at_most: 32.0,
    unit: "µs",
};
/// Time from when an action is due until its answer is there, without the application's own time.
pub(super) const RPC_ADDED: Budget = Budget {
    what: "latency that the server adds to an action over gRPC, p99",
    at_most: 5.0,
    unit: "ms",
};
/// Actions that failed, or were answered too late to be counted.
pub(super) const RPC_UNANSWERED: Budget = Budget {
    what: "actions over gRPC without an answer",
    at_most: 0.0,
    unit: "actions",
};

/// Resident memory of the load client per virtual user of the chat script.
pub(super) const JS_MEMORY: Budget = Budget {
    what: "load client RSS per virtual user of the chat script",
    at_most: 170.0,
    unit: "KB",
};
/// The same of a user with a cable connection that does nothing.
pub(super) const JS_CABLE_STAYS: Budget = Budget {
    what: "load client RSS per idle cable user of a script",
    at_most: 70.0,
    unit: "KB",
};
/// The same of a user of the chat script who is alone in a room.
pub(super) const JS_CHAT_ALONE: Budget = Budget {
    what: "load client RSS per user of the chat script, a room each",
    at_most: 85.0,
    unit: "KB",
};
/// The same of a user of the chat script with 999 others in the room.
pub(super) const JS_CHAT_CROWD: Budget = Budget {
    what: "load client RSS per user of the chat script, 1,000 in one room",
    at_most: 110.0,
    unit: "KB",
};
/// The same of a user who makes one HTTP request and sleeps.
pub(super) const JS_HTTP_STAYS: Budget = Budget {
    what: "load client RSS per user of a script with one http.get",
    at_most: 80.0,
    unit: "KB",
};
/// Time until the last of ten thousand users of a script has subscribed, by the users.
pub(super) const JS_START: Budget = Budget {
    what: "start of a user of a script",
    at_most: 5.0,
    unit: "× bare connect",
};
/// Virtual users of the chat script that did not get into their room.
pub(super) const JS_ABSENT: Budget = Budget {
    what: "virtual users without a subscription",
    at_most: 0.0,
    unit: "users",
};
/// Messages of the chat script whose own author did not hear them.
pub(super) const JS_LOST: Budget = Budget {
    what: "lost messages",
    at_most: 0.0,
    unit: "messages",
};
/// Load client CPU of one `perform` and its answer over Action Cable, in a script.
pub(super) const JS_CABLE_ECHO: Budget = Budget {
    what: "load client CPU per cable echo",
    at_most: 20.0,
    unit: "µs",
};
/// Load client CPU of one message of `k6/ws` and its answer, in a script.
pub(super) const JS_WS_ECHO: Budget = Budget {
    what: "load client CPU per k6/ws echo",
    at_most: 8.0,
    unit: "µs",
};
/// Load client CPU of one request of `k6/http` and its response, in a script.
pub(super) const JS_HTTP_GET: Budget = Budget {
    what: "load client CPU per http.get",
    at_most: 18.0,
    unit: "µs",
};

/// What the real Artillery reaches of our messages per CPU second with the same file: ours are to be ten times as many.
pub(super) const ARTILLERY: Budget = Budget {
    what: "messages per CPU second of the real Artillery",
    at_most: 0.1,
    unit: "× plimsoll",
};
/// Resident memory of the load client per user of a file, who has a connection and waits.
pub(super) const ARTILLERY_MEMORY: Budget = Budget {
    what: "load client RSS per user of a file",
    at_most: 8.0,
    unit: "KB",
};

/// Memory per user as a watched run fits it, next to what `idle` counts.
pub(super) const WATCH_PER_USER: Budget = Budget {
    what: "fitted RSS per user, off what idle counts by",
    at_most: 10.0,
    unit: "%",
};
/// CPU and memory of a target, next to what the kernel says.
pub(super) const WATCH_TOTAL: Budget = Budget {
    what: "figure of a watched run, off what /proc says by",
    at_most: 5.0,
    unit: "%",
};
/// Comparisons with another verdict than the right one, of ten.
pub(super) const COMPARE_WRONG: Budget = Budget {
    what: "wrong verdicts of ten",
    at_most: 1.0,
    unit: "comparisons",
};

/// Messages that an application behind an extended client would miss, get twice or in the wrong order.
pub(super) const RECOVER_FAULTS: Budget = Budget {
    what: "lost, duplicated and reordered messages of extended clients",
    at_most: 0.0,
    unit: "messages",
};
/// The same of base clients beside them, without what was published while a client was away.
pub(super) const RECOVER_BASE_FAULTS: Budget = Budget {
    what: "messages of base clients lost while connected, duplicated or reordered",
    at_most: 0.0,
    unit: "messages",
};
/// Server CPU of a return of which ten thousand come at once.
pub(super) const RECOVER_HERD_CPU: Budget = Budget {
    what: "server CPU per resumed session",
    at_most: 1.0,
    unit: "× connect + subscribe",
};
/// The time until the last client of such a herd has all messages.
pub(super) const RECOVER_WHOLE: Budget = Budget {
    what: "time until the last client is whole",
    at_most: 3.0,
    unit: "s",
};
/// Connect and Subscribe calls beside those of the first connections.
pub(super) const RECOVER_CALLS: Budget = Budget {
    what: "calls to the application for resumed sessions",
    at_most: 0.0,
    unit: "calls",
};
/// Server CPU per delivery with a memory broker, next to the same server without.
pub(super) const KEPT_1: Budget = Budget {
    what: "server CPU per delivery with a broker, 1 broadcast in flight",
    at_most: 1.10,
    unit: "× without",
};
/// The same with eight in flight.
pub(super) const KEPT_8: Budget = Budget {
    what: "server CPU per delivery with a broker, 8 broadcasts in flight",
    at_most: 1.15,
    unit: "× without",
};
/// Resident memory of the server per session that can be resumed.
pub(super) const EXTENDED_IDLE: Budget = Budget {
    what: "server RSS per idle extended connection",
    at_most: 2355.0,
    unit: "bytes",
};
/// Resident memory of 1,000 logs of 100 messages of 350 bytes.
pub(super) const HISTORY: Budget = Budget {
    what: "server RSS of the history",
    at_most: 60.0,
    unit: "MB",
};
/// Resident memory that remains of a stream name that is not used any more.
pub(super) const FORGOTTEN: Budget = Budget {
    what: "server RSS per forgotten stream name",
    at_most: 8.0,
    unit: "bytes",
};

/// Server CPU of subscriptions to names that collide in a hash table without a key.
pub(super) const COLLISIONS: Budget = Budget {
    what: "server CPU of subscriptions to colliding names",
    at_most: 1.2,
    unit: "× ordinary names",
};

/// The median time of a message through two servers and the engine between them, next to a publication in that engine.
pub(super) const HOP: Budget = Budget {
    what: "time to the last of 100 clients of another server, p50",
    at_most: 1.3,
    unit: "× bare engine",
};

impl Budget {
    /// Compares a measured figure, taken under the given circumstances, with the budget.
    pub(super) fn judge(self, circumstances: String, measured: f64) -> Verdict {
        Verdict {
            budget: self,
            circumstances,
            measured,
        }
    }

    /// Compares a CPU time with the budget twice: in µs, which counts on a machine like the one where it was set, and as
    /// a multiple of the bare exchange of the same rounds, which counts on any.
    pub(super) fn judge_cpu(self, circumstances: String, us: f64, n_exchanges: f64) -> [Verdict; 2] {
        let relative = Self {
            at_most: (self.at_most / REFERENCE_EXCHANGE_US * 100.0).round() / 100.0,
            unit: "× exchange",
            ..self
        };
        [
            self.judge(circumstances.clone(), us),
            relative.judge(circumstances, n_exchanges),
        ]
    }
}

/// A budget and the figure it is held against.
#[derive(Clone)]
pub(super) struct Verdict {
    budget: Budget,
    circumstances: String,
    measured: f64,
}

impl Verdict {
    fn is_met(&self) -> bool {
        self.measured <= self.budget.at_most
    }

    /// The same for machines.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "budget": self.budget.what,
            "circumstances": self.circumstances,
            "at_most": self.budget.at_most,
            "unit": self.budget.unit,
            "measured": self.measured,
            "met": self.is_met(),
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            budget: Budget { what, at_most, unit },
            circumstances,
            measured,
        } = self;
        let word = if self.is_met() { "met" } else { "MISSED" };
        write!(
            f,
            "budget {word}: {what} ({circumstances}): {measured:.2} {unit}, at most {at_most} {unit}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_time_is_judged_as_it_is_and_next_to_the_machine() {
        let verdicts = JS_CABLE_ECHO.judge_cpu("20 users".into(), 41.0, 2.5);
        assert_eq!(
            verdicts.map(|verdict| verdict.to_string()),
            [
                "budget MISSED: load client CPU per cable echo (20 users): 41.00 µs, at most 20 µs",
                "budget met: load client CPU per cable echo (20 users): 2.50 × exchange, at most 2.82 × exchange",
            ]
        );
    }

    #[test]
    fn a_budget_is_met_up_to_its_figure() {
        for (measured, expected) in [(1.4, "met"), (1.39, "met"), (1.41, "MISSED")] {
            let verdict = FANOUT_1.judge("1000 connections".into(), measured);
            assert_eq!(
                verdict.to_string(),
                format!(
                    "budget {expected}: server CPU per delivery, 1 broadcast in flight (1000 connections): \
                     {measured:.2} × limit, at most 1.4 × limit"
                )
            );
        }
    }
}
