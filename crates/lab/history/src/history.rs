//! The database of runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, named_params, params};

use crate::{
    HistoryError, Kinds, Run, document,
    reference::steps_back,
    run::{self, COLUMNS, Choices, Filter},
    schema,
};

/// The database's name in its folder.
pub const DATABASE: &str = "runs.db";

/// How long to wait for another process's write. A write takes milliseconds, so this is for a disk that hangs or a
/// hundred processes that end at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ids that an error text lists.
const SHOWN_IDS: u32 = 5;

/// The runs in a folder.
///
/// The database uses SQLite's rollback journal, not its write-ahead log. The latter needs memory shared between
/// processes, which network file systems (where home directories may be) do not offer, and a run writes only once.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
}

impl History {
    /// Opens the history in `folder`, and creates the folder and the database if necessary.
    ///
    /// # Errors
    /// They cannot be created, or the file is damaged, belongs to another program, or was written by a newer version.
    pub fn open(folder: &Path) -> Result<Self, HistoryError> {
        fs::create_dir_all(folder).map_err(|error| HistoryError::Folder {
            folder: folder.to_owned(),
            error,
        })?;
        let path = folder.join(DATABASE);
        let sqlite = |error| HistoryError::of_sqlite(&path, error);
        let mut connection = Connection::open(&path).map_err(sqlite)?;
        connection.busy_timeout(PATIENCE).map_err(sqlite)?;
        connection
            .pragma_update(None, "foreign_keys", true)
            .map_err(sqlite)?;
        schema::prepare(&mut connection, &path)?;
        Ok(Self { connection, path })
    }

    /// Opens an existing history. Returns `None` if there is none.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, HistoryError> {
        let path = folder.join(DATABASE);
        match path.try_exists() {
            Ok(true) => Self::open(folder).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(HistoryError::Hidden { path, error }),
        }
    }

    /// Saves a run with its tags and the text of its summary.
    ///
    /// # Errors
    /// A run with this id exists, or the database cannot be written.
    pub fn save(&mut self, run: &Run, document: &str) -> Result<(), HistoryError> {
        let deflated = document::deflate(document).map_err(|error| self.damaged(&error))?;
        self.change(|transaction| {
            transaction.execute(
                "INSERT INTO runs (id, started_at, name, kind, command, duration_seconds, vus_max, verdict, doubtful,
                                   figures, note)
                 VALUES (:id, :started_at, :name, :kind, :command, :duration_seconds, :vus_max, :verdict, :doubtful,
                         :figures, :note)",
                named_params! {
                    ":id": run.id, ":started_at": run.started_at, ":name": run.name, ":kind": run.kind,
                    ":command": run.command, ":duration_seconds": run.duration_seconds, ":vus_max": run.vus_max,
                    ":verdict": run.verdict, ":doubtful": run.doubtful, ":figures": run.figures, ":note": run.note,
                },
            )?;
            transaction.execute(
                "INSERT INTO documents (run, deflated) VALUES (?, ?)",
                params![run.id, deflated],
            )?;
            for tag in &run.tags {
                insert_tag(transaction, &run.id, tag)?;
            }
            Ok(())
        })
    }

    /// The runs that match a filter, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Run>, HistoryError> {
        let query = format!(
            "SELECT {COLUMNS} FROM runs
             WHERE (:tag IS NULL OR EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.id AND tag = :tag))
               AND (:name IS NULL OR instr(name, :name) > 0)
               AND (:kind IS NULL OR kind = :kind)
               AND (:verdict IS NULL OR verdict = :verdict)
               AND (:since IS NULL OR started_at >= :since)
               AND (:before IS NULL OR started_at < :before)
             ORDER BY started_at DESC, id DESC LIMIT :limit"
        );
        // For SQLite a negative limit means no limit.
        let limit = filter.limit.map_or(-1, i64::from);
        self.read(|connection| {
            let mut statement = connection.prepare(&query)?;
            let rows = statement.query_map(
                named_params! {
                    ":tag": filter.tag, ":name": filter.name, ":kind": filter.kind, ":verdict": filter.verdict,
                    ":since": filter.since, ":before": filter.before, ":limit": limit,
                },
                run::read,
            )?;
            rows.collect()
        })
    }

    /// The values to filter by.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn choices(&self) -> Result<Choices, HistoryError> {
        self.read(|connection| {
            let all = |query| -> rusqlite::Result<Vec<String>> {
                connection
                    .prepare(query)?
                    .query_map([], |row| row.get(0))?
                    .collect()
            };
            Ok(Choices {
                n_runs: connection.query_one("SELECT count(*) FROM runs", [], |row| row.get(0))?,
                kinds: all("SELECT DISTINCT kind FROM runs ORDER BY kind")?,
                verdicts: all("SELECT DISTINCT verdict FROM runs ORDER BY verdict")?,
                tags: all("SELECT DISTINCT tag FROM tags ORDER BY tag")?,
            })
        })
    }

    /// The runs that a reference names: a single run for `latest`, `latest~N`, an id or its beginning; for a tag all
    /// runs with it, newest first. A tag takes precedence over the beginning of an id.
    ///
    /// # Errors
    /// There is no such run, or several ids have this beginning.
    pub fn find(&self, reference: &str) -> Result<Vec<Run>, HistoryError> {
        self.find_among(reference, Kinds::All)
    }

    /// The runs that a reference names, as [`Self::find`]. `latest`, `latest~N` and tags count only runs of these kinds; an
    /// id names its run in any case.
    ///
    /// # Errors
    /// As for [`Self::find`].
    pub fn find_among(&self, reference: &str, kinds: Kinds<'_>) -> Result<Vec<Run>, HistoryError> {
        let unknown = || HistoryError::Unknown {
            reference: reference.to_owned(),
        };
        if let Some(n_steps) = steps_back(reference) {
            let (only, except) = match kinds {
                Kinds::All => (None, None),
                Kinds::Only(kind) => (Some(kind), None),
                Kinds::Except(kind) => (None, Some(kind)),
            };
            let query = format!(
                "SELECT {COLUMNS} FROM runs
                 WHERE (:only IS NULL OR kind = :only) AND (:except IS NULL OR kind <> :except)
                 ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET :offset"
            );
            let values = named_params! { ":only": only, ":except": except, ":offset": n_steps };
            let run = self
                .read(|connection| connection.query_row(&query, values, run::read).optional())?
                .ok_or_else(unknown)?;
            return Ok(vec![run]);
        }
        let mut tagged = self.list(&Filter {
            tag: Some(reference.to_owned()),
            ..Filter::default()
        })?;
        // A tag of other runs alone still names them, so that the caller can say what is wrong with them.
        if tagged.iter().any(|run| kinds.contain(&run.kind)) {
            tagged.retain(|run| kinds.contain(&run.kind));
        }
        if !tagged.is_empty() {
            return Ok(tagged);
        }
        let mut found = self.beginning_with(reference)?;
        match found.len() {
            0 => Err(unknown()),
            1 => Ok(found),
            _ if found[0].id == reference => Ok(vec![found.swap_remove(0)]),
            _ => Err(HistoryError::Ambiguous {
                prefix: reference.to_owned(),
                ids: found.into_iter().map(|run| run.id).collect(),
            }),
        }
    }

    /// The first few runs whose ids begin with `prefix`, in any case, in the order of their ids.
    fn beginning_with(&self, prefix: &str) -> Result<Vec<Run>, HistoryError> {
        if prefix.is_empty() {
            return Ok(Vec::new());
        }
        let query = format!(
            "SELECT {COLUMNS} FROM runs WHERE upper(substr(id, 1, length(:prefix))) = upper(:prefix)
             ORDER BY id LIMIT {SHOWN_IDS}"
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&query)?;
            let rows = statement.query_map(named_params! { ":prefix": prefix }, run::read)?;
            rows.collect()
        })
    }

    /// The text of a run's summary, by its full id.
    ///
    /// # Errors
    /// There is no such run, or the text is damaged.
    pub fn document(&self, id: &str) -> Result<String, HistoryError> {
        let deflated: Option<Vec<u8>> = self.read(|connection| {
            connection
                .query_row("SELECT deflated FROM documents WHERE run = ?", [id], |row| {
                    row.get(0)
                })
                .optional()
        })?;
        let deflated = deflated.ok_or_else(|| HistoryError::Unknown {
            reference: id.to_owned(),
        })?;
        document::inflate(&deflated).map_err(|error| self.damaged(&error))
    }

    /// Adds tags to a run and removes others, by its full id. Adding a tag that it has, or removing one that it lacks,
    /// changes nothing.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn tag(&mut self, id: &str, added: &[String], removed: &[String]) -> Result<(), HistoryError> {
        self.change(|transaction| {
            for tag in added {
                insert_tag(transaction, id, tag)?;
            }
            for tag in removed {
                transaction.execute("DELETE FROM tags WHERE run = ? AND tag = ?", [id, tag])?;
            }
            Ok(())
        })
    }

    /// Sets the note of a run, by its full id. An empty text removes the note.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn note(&mut self, id: &str, text: &str) -> Result<(), HistoryError> {
        let note = (!text.is_empty()).then_some(text);
        self.change(|transaction| {
            transaction.execute("UPDATE runs SET note = ? WHERE id = ?", params![note, id])?;
            Ok(())
        })
    }

    /// Removes runs, by their full ids: all or none.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn remove(&mut self, ids: &[String]) -> Result<(), HistoryError> {
        self.change(|transaction| {
            for id in ids {
                transaction.execute("DELETE FROM runs WHERE id = ?", [id])?;
            }
            Ok(())
        })?;
        // Shrinks the file. If that fails, later runs use the space.
        let _space_stays = self.connection.execute_batch("VACUUM");
        Ok(())
    }

    /// Runs a change as one transaction.
    fn change(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), HistoryError> {
        // Takes the write lock at once. Two processes that first read and then want to write would block each other.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let changed = transaction.and_then(|transaction| {
            change(&transaction)?;
            transaction.commit()
        });
        changed.map_err(|error| HistoryError::of_sqlite(&self.path, error))
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, HistoryError> {
        read(&self.connection).map_err(|error| HistoryError::of_sqlite(&self.path, error))
    }

    fn damaged(&self, error: &io::Error) -> HistoryError {
        HistoryError::Damaged {
            path: self.path.clone(),
            problem: error.to_string(),
        }
    }
}

fn insert_tag(transaction: &Transaction<'_>, id: &str, tag: &str) -> rusqlite::Result<()> {
    let query = "INSERT INTO tags (run, tag) VALUES (?, ?) ON CONFLICT DO NOTHING";
    transaction.execute(query, [id, tag]).map(drop)
}

#[cfg(test)]
mod tests;
