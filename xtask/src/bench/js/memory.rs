//! Memory of a virtual user of a script, by what it does.

use serde_json::json;

use super::runner::{Runner, Script};
use crate::bench::{
    Error, Outcome, Plan,
    budget::{self, Budget},
    finished::Finished,
    server::Server,
    sheet::Sheet,
};

/// Arrivals per second.
const COMING_PER_S: usize = 500;

/// Users of one kind.
struct Kind {
    /// The column.
    name: &'static str,
    file: &'static str,
    /// The flags of the server.
    application: [&'static str; 2],
    scheme: &'static str,
    path: &'static str,
    n_vus: usize,
    people_of_a_room: usize,
    budget: &'static Budget,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "idle cable KB",
        file: "stay-cable.js",
        application: ["--app", "benchmark"],
        scheme: "ws",
        path: "/cable",
        n_vus: 2_000,
        people_of_a_room: 1,
        budget: &budget::JS_CABLE_STAYS,
    },
    Kind {
        name: "chat alone KB",
        file: "chat.js",
        application: ["--app", "chat"],
        scheme: "ws",
        path: "/cable",
        n_vus: 2_000,
        people_of_a_room: 1,
        budget: &budget::JS_CHAT_ALONE,
    },
    Kind {
        name: "chat of 1,000 KB",
        file: "chat.js",
        application: ["--app", "chat"],
        scheme: "ws",
        path: "/cable",
        n_vus: 1_000,
        // The users' numbers begin with 1.
        people_of_a_room: 1_001,
        budget: &budget::JS_CHAT_CROWD,
    },
    Kind {
        name: "http.get KB",
        file: "stay-http.js",
        application: ["--app", "benchmark"],
        scheme: "http",
        path: "/health",
        n_vus: 2_000,
        people_of_a_room: 1,
        budget: &budget::JS_HTTP_STAYS,
    },
];

/// Measures every kind of user.
pub(super) fn measure(plan: &Plan, plimsoll: &Runner, outcome: &mut Outcome) -> Result<(), Error> {
    let title = "js: load client RSS per virtual user, 2,000 users (1,000 in the room of 1,000)".to_owned();
    let mut sheet = Sheet::new(title, &KINDS.map(|kind| kind.name));
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let mut figures = Vec::new();
        for kind in &KINDS {
            let alone = kind.run(plan, plimsoll, 1)?;
            let all = kind.run(plan, plimsoll, kind.n_vus)?;
            figures.push(kb_per_user(kind.n_vus, &alone, &all));
            let rss_bytes = [alone.max_rss_bytes, all.max_rss_bytes];
            reports.push(json!({ "command": all.command, "rss_bytes": rss_bytes }));
        }
        sheet.push(figures);
    }
    let verdicts = KINDS.map(|kind| {
        let circumstances = format!("{} users", kind.n_vus);
        kind.budget.judge(circumstances, sheet.median(kind.name))
    });
    outcome.add(&sheet, &verdicts, &reports);
    Ok(())
}

/// What each further user adds to the most memory of a run, in KB.
pub(super) fn kb_per_user(n_vus: usize, alone: &Finished, all: &Finished) -> f64 {
    let grown_bytes = all.max_rss_bytes.saturating_sub(alone.max_rss_bytes);
    let n_others = n_vus.saturating_sub(1).max(1);
    grown_bytes as f64 / 1024.0 / n_others as f64
}

impl Kind {
    /// A run against a server of its own.
    fn run(&self, plan: &Plan, plimsoll: &Runner, n_vus: usize) -> Result<Finished, Error> {
        let server = Server::start_with(&plan.server, &self.application)?;
        let url = server.url(self.scheme, self.path);
        plimsoll.run(&Script {
            file: self.file,
            variables: &[
                ("VUS", n_vus.to_string()),
                ("RAMP_S", n_vus.div_ceil(COMING_PER_S).to_string()),
                ("PEOPLE_OF_A_ROOM", self.people_of_a_room.to_string()),
                ("URL", url.clone()),
                ("CABLE_URL", url),
            ],
        })
    }
}
