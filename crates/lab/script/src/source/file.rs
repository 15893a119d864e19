//! Files of this machine: sources, and what scripts `open`.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    string::FromUtf8Error,
};

use plimsoll_load::nearest::nearest;

use super::{MAX_SOURCE_BYTES, Specifier};

/// The largest file that a script opens: strings of the engine end here too.
pub(crate) const MAX_OPENED_BYTES: usize = 1 << 30;

/// Where a suggestion is looked for ends here: a folder may have a million files.
const MAX_NEIGHBOURS: usize = 1_000;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not there.
    #[error("there is no file {}{}", plimsoll_redacted::url_with_query(&path.to_string_lossy()), suggestion(path, .instead.as_deref()))]
    Missing {
        /// What was looked for.
        path: PathBuf,
        /// The file that was probably meant.
        instead: Option<PathBuf>,
    },
    /// It is not in the archive, which has all files of a test.
    #[error("{} is not in the archive; make the archive again, with this file", path.display())]
    NotArchived {
        /// What was looked for.
        path: PathBuf,
    },
    /// It is there.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// It has more bytes than is reasonable.
    #[error("{} has more than {max_bytes} bytes", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// What is reasonable.
        max_bytes: usize,
    },
    /// A source is UTF-8.
    #[error("{} is not UTF-8 (byte {offset}); save it in this encoding", path.display())]
    Encoding {
        /// Which file.
        path: PathBuf,
        /// The first byte that is wrong, from 0.
        offset: usize,
    },
}

/// Why a script cannot open a file.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A fetched module has no business with files of this machine.
    #[error("open({path:?}) in a fetched module ({module}): only modules that are files may open files")]
    Remote {
        /// As the script has it.
        path: String,
        /// Which module.
        module: Specifier,
    },
    /// Paths are relative to the script that opens, not to the working directory, which surprises people.
    #[error("open({path:?}): {cause} (a relative path starts at the folder of the script that opens it)")]
    File {
        /// As the script has it.
        path: String,
        /// What is wrong.
        cause: FileError,
    },
}

/// Reads the file that `path` means in the module `base`: absolute, relative to the module's folder, or a `file` URL.
///
/// # Errors
/// When it cannot be read, has more than 1 GiB, or when the module was fetched.
pub fn open(base: &Specifier, path: &str) -> Result<Vec<u8>, OpenError> {
    let target = opened_path(base, path)?;
    read(&target, MAX_OPENED_BYTES).map_err(|cause| OpenError::File {
        path: path.to_owned(),
        cause,
    })
}

/// The file that `open(path)` reads in the module `base`.
///
/// # Errors
/// When the module was fetched.
pub fn opened_path(base: &Specifier, path: &str) -> Result<PathBuf, OpenError> {
    let Some(module) = base.to_path() else {
        return Err(OpenError::Remote {
            path: path.to_owned(),
            module: base.clone(),
        });
    };
    Ok(match Specifier::parse(path).and_then(|url| url.to_path()) {
        Some(target) => target,
        None => normal(&module.with_file_name("").join(path)),
    })
}

/// Reads a source; a byte order mark is not part of it.
pub(super) fn read_source(path: &Path) -> Result<String, FileError> {
    text_of(path, read(path, MAX_SOURCE_BYTES)?)
}

/// The text of a source with these bytes.
pub(super) fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    let text = String::from_utf8(bytes).map_err(|error: FromUtf8Error| FileError::Encoding {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn read(path: &Path, max_bytes: usize) -> Result<Vec<u8>, FileError> {
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => FileError::Missing {
            path: path.to_owned(),
            instead: neighbour(path),
        },
        _ => FileError::Unreadable {
            path: path.to_owned(),
            cause,
        },
    };
    let mut bytes = Vec::new();
    let one_too_many = max_bytes as u64 + 1;
    let file = File::open(path).map_err(failed)?;
    file.take(one_too_many).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > max_bytes {
        Err(FileError::TooLarge {
            path: path.to_owned(),
            max_bytes,
        })
    } else {
        Ok(bytes)
    }
}

/// Without `.` and `..`, for texts that people read.
fn normal(path: &Path) -> PathBuf {
    Specifier::of_file(path)
        .and_then(|specifier| specifier.to_path())
        .unwrap_or_else(|| path.to_owned())
}

/// The file that the script probably meant: the path with an extension added, or a file with a similar name.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let files = fs::read_dir(path.parent()?).ok()?.take(MAX_NEIGHBOURS).flatten();
    let mut names: Vec<String> = files
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let extended = |candidate: &&String| {
        let rest = candidate.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let meant = names.iter().find(extended).or_else(|| nearest(name, &names))?;
    Some(path.with_file_name(meant))
}

fn suggestion(path: &Path, instead: Option<&Path>) -> String {
    let (Some(name), Some(instead)) = (path.file_name(), instead.and_then(Path::file_name)) else {
        return String::new();
    };
    let (name, instead) = (name.to_string_lossy(), instead.to_string_lossy());
    if instead.starts_with(&*name) {
        format!("; did you mean {instead:?}? An extension is part of the name")
    } else {
        format!("; did you mean {instead:?}?")
    }
}

#[cfg(test)]
mod tests;
