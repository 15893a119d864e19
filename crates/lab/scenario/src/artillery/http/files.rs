//! Files of forms whose paths depend on the user: read when they are first sent, and kept.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::artillery::{ReadBytes, failure::Failure};

/// The largest file. Reason: it is in memory, and each user that sends it has a copy while it does.
pub(crate) const LARGEST_FILE: u64 = 64 << 20;

/// The most bytes that are kept. Reason: four of the largest files; further files are read each time.
const MOST_KEPT_BYTES: usize = 4 * LARGEST_FILE as usize;

/// The files of one field of a form.
pub(crate) struct Files {
    /// The folder of the test, to which paths are relative.
    folder: PathBuf,
    read: ReadBytes,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
    n_bytes: usize,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Files {
    /// The files next to `test`.
    pub(crate) fn new(test: &Path, read: ReadBytes) -> Self {
        Self {
            folder: test.parent().unwrap_or(Path::new("")).to_owned(),
            read,
            kept: Mutex::default(),
        }
    }

    /// The name of a file and its bytes. The first user that sends it waits until it is read.
    pub(crate) fn get(&self, path: &str) -> Result<(String, Arc<[u8]>), Failure> {
        let path: PathBuf = self.folder.join(path).components().collect();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = kept.files.get(&path) {
            return Ok((name, Arc::clone(bytes)));
        }
        let bytes = (self.read)(&path, LARGEST_FILE + 1).map_err(|error| failure(&path, &error))?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(Failure::new("file is larger than 64 MiB").caused_by(path.display().to_string()));
        }
        let bytes: Arc<[u8]> = bytes.into();
        if kept.n_bytes + bytes.len() <= MOST_KEPT_BYTES {
            kept.n_bytes += bytes.len();
            kept.files.insert(path, Arc::clone(&bytes));
        }
        Ok((name, bytes))
    }
}

/// Node's code if there is one.
fn failure(path: &Path, error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::IsADirectory => "EISDIR",
        _ => "file cannot be read",
    };
    Failure::new(code).caused_by(format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_their_paths() {
        let read = |path: &Path, _: u64| match path.to_str() {
            Some("load/images/cat.png") => Ok(vec![1]),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let files = Files::new(Path::new("load/test.yml"), Arc::new(read));
        for _ in 0..2 {
            let (name, bytes) = files.get("./images/cat.png").unwrap();
            assert_eq!((name.as_str(), &*bytes), ("cat.png", &[1][..]));
        }
        let failure = files.get("dog.png").unwrap_err();
        assert_eq!(failure.text(), "ENOENT");
        assert!(failure.reason().starts_with("ENOENT (cannot read load/dog.png: "));
    }

    #[test]
    fn files_over_the_limit_are_not_kept() {
        let files = Files::new(
            Path::new("test.yml"),
            Arc::new(|_: &Path, _| Ok(vec![0; 48 << 20])),
        );
        for name in ["a", "b", "c", "d", "e", "f"] {
            files.get(name).unwrap();
        }
        assert_eq!(files.kept.lock().unwrap().files.len(), 5);
    }
}
