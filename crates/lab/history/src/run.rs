//! What runs are listed and found by.

use rusqlite::Row;

/// The columns of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Unique; later runs have greater ones.
    pub id: String,
    /// RFC 3339, UTC, so that texts sort as times do.
    pub started_at: String,
    /// What was run: a file, or a name.
    pub name: String,
    /// What kind of run it was, such as `k6`.
    pub kind: String,
    /// The command line as it was typed, with the program as `plimsoll`.
    pub command: String,
    /// How long it took.
    pub duration_seconds: f64,
    /// Virtual users that existed.
    pub vus_max: u32,
    /// One word for how it ended.
    pub verdict: String,
    /// Whether the generator was the bottleneck.
    pub saturated: bool,
    /// A few figures for people.
    pub figures: String,
    /// What somebody wrote about it.
    pub note: Option<String>,
    /// In alphabetical order.
    pub tags: Vec<String>,
}

/// Which runs to list; all that is `Some` must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Bears this tag.
    pub tag: Option<String>,
    /// The name has this in it.
    pub name: Option<String>,
    /// Is of this kind.
    pub kind: Option<String>,
    /// Ended so.
    pub verdict: Option<String>,
    /// Began at this moment or later: RFC 3339, UTC.
    pub since: Option<String>,
    /// Began before this moment: RFC 3339, UTC.
    pub before: Option<String>,
    /// As many at most, the newest.
    pub limit: Option<u32>,
}

/// What runs of a history are told apart by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// How many runs there are.
    pub n_runs: u32,
    /// The kinds that there are, in alphabetical order.
    pub kinds: Vec<String>,
    /// How runs ended, in alphabetical order.
    pub verdicts: Vec<String>,
    /// All tags, in alphabetical order.
    pub tags: Vec<String>,
}

/// The columns that [`read`] takes, of the table `runs`.
pub(crate) const COLUMNS: &str = "id, started_at, name, kind, command, duration_seconds, vus_max, verdict, saturated, \
     figures, note, (SELECT group_concat(tag, char(10) ORDER BY tag) FROM tags WHERE tags.run = runs.id)";

/// A run of a row with [`COLUMNS`].
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
        saturated: row.get(8)?,
        figures: row.get(9)?,
        note: row.get(10)?,
        tags: tags
            .iter()
            .flat_map(|tags| tags.lines())
            .map(str::to_owned)
            .collect(),
    })
}
