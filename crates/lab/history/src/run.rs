//! The columns by which runs are listed and found.

use rusqlite::Row;

/// The columns of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The id. It is unique, and later runs have greater ids.
    pub id: String,
    /// The start time as RFC 3339 in UTC, so that texts sort in the order of time.
    pub started_at: String,
    /// The file or the name that was run.
    pub name: String,
    /// The kind of run, such as `k6`.
    pub kind: String,
    /// The command line as it was typed, beginning with `plimsoll`, without the secrets of URLs and flags.
    pub command: String,
    /// The duration in seconds.
    pub duration_seconds: f64,
    /// The greatest number of virtual users; 0 if another tool's results do not tell it.
    pub vus_max: u32,
    /// The outcome in one word.
    pub verdict: String,
    /// Whether the figures are doubtful: they do not describe the target alone.
    pub doubtful: bool,
    /// A few figures for people.
    pub figures: String,
    /// A person's note about the run.
    pub note: Option<String>,
    /// The tags in alphabetical order.
    pub tags: Vec<String>,
}

impl Run {
    /// The greatest number of virtual users, if it is known.
    pub fn users(&self) -> Option<u32> {
        (self.vus_max > 0).then_some(self.vus_max)
    }
}

/// A filter for runs. All conditions that are `Some` must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The run has this tag.
    pub tag: Option<String>,
    /// The run's name contains this text.
    pub name: Option<String>,
    /// The run is of this kind.
    pub kind: Option<String>,
    /// The run has this outcome.
    pub verdict: Option<String>,
    /// The run began at this time or later: RFC 3339, UTC.
    pub since: Option<String>,
    /// The run began before this time: RFC 3339, UTC.
    pub before: Option<String>,
    /// The greatest number of runs; the newest ones are listed.
    pub limit: Option<u32>,
}

/// The kinds of runs among which a reference finds one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds<'a> {
    /// All kinds.
    #[default]
    All,
    /// This kind only.
    Only(&'a str),
    /// All kinds but this one.
    Except(&'a str),
}

impl Kinds<'_> {
    /// Whether a run of this kind is among them.
    pub fn contain(self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => kind == only,
            Self::Except(except) => kind != except,
        }
    }
}

/// The values by which the runs of a history can be filtered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// The number of runs.
    pub n_runs: u32,
    /// All kinds, in alphabetical order.
    pub kinds: Vec<String>,
    /// All outcomes, in alphabetical order.
    pub verdicts: Vec<String>,
    /// All tags, in alphabetical order.
    pub tags: Vec<String>,
}

/// The columns of the table `runs` that [`read`] needs.
pub(crate) const COLUMNS: &str = "id, started_at, name, kind, command, duration_seconds, vus_max, verdict, doubtful, \
     figures, note, (SELECT group_concat(tag, char(10) ORDER BY tag) FROM tags WHERE tags.run = runs.id)";

/// Reads a run from a row with [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let tags: Option<String> = row.get(11)?;
    Ok(Run {
        id: row.get(0)?,
        started_at: row.get(1)?,
        name: row.get(2)?,
        kind: row.get(3)?,
        command: row.get(4)?,
        duration_seconds: row.get(5)?,
        vus_max: row.get(6)?,
        verdict: row.get(7)?,
        doubtful: row.get(8)?,
        figures: row.get(9)?,
        note: row.get(10)?,
        tags: tags
            .iter()
            .flat_map(|tags| tags.lines())
            .map(str::to_owned)
            .collect(),
    })
}
