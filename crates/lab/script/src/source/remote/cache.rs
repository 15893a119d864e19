//! Copies of fetched modules on disk, one file each, with a checksum that is verified on every read.
//!
//! Imports name versions, so a copy never becomes outdated. The checksum protects against damage (a full disk, an
//! editor), not against an attacker who may write to the user's own folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};

use super::super::{MAX_SOURCE_BYTES, Specifier};

/// The first words of a copy. Another format gets another number.
const FORMAT: &str = "// plimsoll module 1 sha256:";

/// Digits of a SHA-256 in hexadecimal.
const N_DIGITS: usize = 64;

/// A folder with copies.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// What the cache has of a module.
#[derive(Debug)]
pub(super) enum Kept {
    Nothing,
    /// What was put there.
    Intact {
        text: String,
        path: PathBuf,
    },
    /// Something else.
    Damaged {
        path: PathBuf,
    },
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn read(&self, module: &Specifier) -> Kept {
        let path = self.path(module);
        let too_large = |data: fs::Metadata| data.len() > 2 * MAX_SOURCE_BYTES as u64;
        match fs::metadata(&path).map(too_large) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Kept::Nothing,
            Ok(false) => {}
            Ok(true) | Err(_) => return Kept::Damaged { path },
        }
        let intact = fs::read_to_string(&path)
            .ok()
            .and_then(|copy| verified(&copy, module));
        match intact {
            Some(text) => Kept::Intact { text, path },
            None => Kept::Damaged { path },
        }
    }

    /// Puts a copy in place atomically: no process reads half of it, however many processes write.
    pub(super) fn keep(&self, module: &Specifier, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let unfinished = self
            .folder
            .join(format!("{}-{:016x}.part", std::process::id(), fastrand::u64(..)));
        let written = fs::write(&unfinished, copy(module, text));
        let placed = written.and_then(|()| fs::rename(&unfinished, self.path(module)));
        if placed.is_err() {
            // Whether this works or not, the first error is the one to tell.
            fs::remove_file(&unfinished).ok();
        }
        placed
    }

    pub(super) fn path(&self, module: &Specifier) -> PathBuf {
        self.folder.join(format!("{}.js", checksum(module.as_str())))
    }
}

/// The head names the module, for people and against copies that were renamed.
fn copy(module: &Specifier, text: &str) -> String {
    format!("{FORMAT}{} {}\n{text}", checksum(text), module.as_str())
}

fn verified(copy: &str, module: &Specifier) -> Option<String> {
    let (head, text) = copy.split_once('\n')?;
    let (sum, name) = head.strip_prefix(FORMAT)?.split_at_checked(N_DIGITS)?;
    (sum == checksum(text) && name.strip_prefix(' ') == Some(module.as_str())).then(|| text.to_owned())
}

fn checksum(text: &str) -> String {
    let bytes = digest(&SHA256, text.as_bytes());
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
