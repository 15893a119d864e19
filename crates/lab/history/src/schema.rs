//! The tables, and the migrations from earlier formats.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::HistoryError;

/// Written into the file, so that another program's database is not mistaken for a history: `PLMS`.
const APPLICATION_ID: i64 = 0x504c_4d53;

/// Statement `i` migrates format `i` to format `i + 1`. A released step is never changed; later formats get steps of
/// their own.
const STEPS: [&str; 3] = [
    "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY NOT NULL,
        started_at TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        command TEXT NOT NULL,
        duration_seconds REAL NOT NULL,
        vus_max INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        saturated INTEGER NOT NULL,
        figures TEXT NOT NULL,
        note TEXT
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started_at);
    -- Apart, so that a list of runs reads none of them.
    CREATE TABLE documents (
        run TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        deflated BLOB NOT NULL
    ) STRICT;
    CREATE TABLE tags (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (run, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tags_by_tag ON tags (tag);
",
    // Verdicts and doubt in the present words. Ends of searches keep their names.
    "
    ALTER TABLE runs RENAME COLUMN saturated TO doubtful;
    UPDATE runs SET verdict = CASE
        WHEN verdict IN ('crossed', 'lost', 'failures') THEN 'fail'
        WHEN verdict IN ('interrupted', 'aborted') THEN 'incomplete'
        WHEN verdict = 'passed' AND doubtful THEN 'doubtful'
        WHEN verdict = 'passed' THEN 'pass'
        ELSE verdict
    END
    WHERE kind <> 'line';
",
    // Searches, too, have the verdicts of all load tests; their ends stay in their documents.
    "
    UPDATE runs SET verdict = CASE
        WHEN verdict IN ('found', 'max') THEN 'pass'
        WHEN verdict IN ('nothing_holds', 'degraded') THEN 'fail'
        WHEN verdict = 'generator' THEN 'inconclusive'
        WHEN verdict = 'interrupted' THEN 'incomplete'
        ELSE verdict
    END
    WHERE kind = 'line';
",
];

/// The format that this version writes (SQLite's `user_version`).
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Creates the tables, or migrates those of an earlier version. Concurrent processes take turns.
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let sqlite = |error| HistoryError::of_sqlite(path, error);
    if number(connection, "user_version").map_err(sqlite)? == VERSION {
        return check_owner(connection, path);
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite)?;
    // Another process may have migrated the file meanwhile.
    let found = number(&transaction, "user_version").map_err(sqlite)?;
    if found > VERSION {
        check_owner(&transaction, path)?;
        let path = path.to_owned();
        return Err(HistoryError::Newer { path, found });
    }
    if is_empty(&transaction).map_err(sqlite)? {
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(sqlite)?;
    }
    check_owner(&transaction, path)?;
    let n_done = usize::try_from(found).unwrap_or(0);
    for step in STEPS.iter().skip(n_done) {
        transaction.execute_batch(step).map_err(sqlite)?;
    }
    transaction
        .pragma_update(None, "user_version", VERSION)
        .map_err(sqlite)?;
    transaction.commit().map_err(sqlite)
}

fn check_owner(connection: &Connection, path: &Path) -> Result<(), HistoryError> {
    let found = number(connection, "application_id").map_err(|error| HistoryError::of_sqlite(path, error))?;
    if found == APPLICATION_ID {
        Ok(())
    } else {
        Err(HistoryError::Damaged {
            path: path.to_owned(),
            problem: "it is the database of another program".to_owned(),
        })
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_one("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}
