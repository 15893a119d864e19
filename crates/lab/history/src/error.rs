//! Why the history cannot be read or written.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::schema;

/// Why the history cannot be read or written. These errors never affect a run.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The folder cannot be created.
    #[error("cannot create the folder {folder}: {error}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// It is unknown whether there is a history.
    #[error("cannot check whether {path} exists: {error}")]
    Hidden {
        /// The database.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is damaged, or not a history.
    #[error(
        "{path} is damaged or is not a Plimsoll history ({problem}); move it away, and the next run starts a new one"
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The symptom.
        problem: String,
    },
    /// A newer version of this program wrote the file.
    #[error(
        "{path} was written by a newer version of Plimsoll: its format is {found}, and this version knows formats up to \
         {known}; run the newer version, or keep the runs of this one in another folder",
        known = schema::VERSION
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The format's number.
        found: i64,
    },
    /// Another process has held the lock for too long.
    #[error("{path} is locked by another process")]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// SQLite failed, for example because of permissions or a full disk.
    #[error("cannot use {path}: {error}")]
    Database {
        /// The database.
        path: PathBuf,
        /// The cause.
        error: rusqlite::Error,
    },
    /// There is no such run.
    #[error(
        "there is no run `{reference}`; expected the beginning of an id, a tag, `latest`, or `latest~1` for the run \
         before it; `plimsoll runs list` shows all runs"
    )]
    Unknown {
        /// The given text.
        reference: String,
    },
    /// Several ids begin with the given text.
    #[error("`{prefix}` matches several runs: {}; write more of the id", ids.join(", "))]
    Ambiguous {
        /// The given text.
        prefix: String,
        /// Some of these ids.
        ids: Vec<String>,
    },
}

impl HistoryError {
    /// Converts SQLite's error for the database at `path`.
    pub(crate) fn of_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                problem: error.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            _ => Self::Database { path, error },
        }
    }
}
