//! The files of a test in a package, by their paths on the coordinator's machine.
//!
//! Agents read them from memory: paths are names here, so no package can reach a file of an agent.

use std::{collections::BTreeMap, io, path::Path};

use serde::{Deserialize, Serialize};

/// Files in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSet(BTreeMap<String, Vec<u8>>);

/// A file in the head of a package: its content is behind those of the files before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    path: String,
    n_bytes: u64,
}

impl FileSet {
    /// Adds a file.
    pub(crate) fn insert(&mut self, path: String, content: Vec<u8>) {
        self.0.insert(path, content);
    }

    /// The content of a file.
    ///
    /// # Errors
    /// The set has no file with this path.
    pub(crate) fn get(&self, path: &Path) -> io::Result<&[u8]> {
        let found = path.to_str().and_then(|path| self.0.get(path));
        found.map(Vec::as_slice).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "it is not among the files that the coordinator sent",
            )
        })
    }

    /// The text of a file.
    ///
    /// # Errors
    /// The set has no such file, or it is no text.
    pub(crate) fn text(&self, path: &Path) -> io::Result<String> {
        let content = self.get(path)?.to_vec();
        String::from_utf8(content).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// What a package's head says of the files, and their contents.
    pub(crate) fn write(&self) -> (Vec<FileEntry>, Vec<u8>) {
        let entries = self.0.iter().map(|(path, content)| FileEntry {
            path: path.clone(),
            n_bytes: content.len() as u64,
        });
        let contents = self.0.values().flatten().copied().collect::<Vec<_>>();
        (entries.collect(), contents)
    }

    /// The files that a package's head lists, from their contents.
    ///
    /// # Errors
    /// The contents are not theirs.
    pub(crate) fn read(entries: &[FileEntry], mut contents: &[u8]) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for FileEntry { path, n_bytes } in entries {
            let split = usize::try_from(*n_bytes)
                .ok()
                .and_then(|n_bytes| contents.split_at_checked(n_bytes));
            let (content, rest) = split.ok_or_else(|| format!("the package ends within {path}"))?;
            if files.insert(path.clone(), content.to_vec()).is_some() {
                return Err(format!("the package has {path} twice"));
            }
            contents = rest;
        }
        if contents.is_empty() {
            Ok(Self(files))
        } else {
            Err(format!("the package has {} bytes of no file", contents.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(entries: &[(&str, u64)]) -> Vec<FileEntry> {
        let entry = |&(path, n_bytes): &(&str, u64)| FileEntry {
            path: path.to_owned(),
            n_bytes,
        };
        entries.iter().map(entry).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut set = FileSet::default();
        for files in [&[][..], &[("b", "1\n"), ("a\n", ""), ("ü", "\u{0}2")]] {
            for (path, text) in files {
                set.insert((*path).to_owned(), text.as_bytes().to_vec());
            }
            let (entries, contents) = set.write();
            assert_eq!(FileSet::read(&entries, &contents), Ok(set.clone()));
        }
    }

    #[test]
    fn heads_that_do_not_fit_are_refused() {
        let check = |listed: &[(&str, u64)], contents: &str, words: &str| {
            let error = FileSet::read(&entries(listed), contents.as_bytes()).unwrap_err();
            assert!(error.contains(words), "{listed:?}: {error}");
        };
        check(&[("a", 4)], "123", "ends within a");
        check(&[("a", 1), ("b", u64::MAX)], "123", "ends within b");
        check(&[("a", 1), ("a", 2)], "123", "has a twice");
        check(&[("a", 1)], "123", "has 2 bytes of no file");
    }

    #[test]
    fn paths_are_names_and_reach_no_file_of_this_machine() {
        let own = std::env::current_exe().unwrap();
        let mut set = FileSet::default();
        for path in ["../../a", "/etc/passwd", "a/../b"] {
            set.insert(path.to_owned(), path.as_bytes().to_vec());
        }
        for path in ["../../a", "/etc/passwd", "a/../b"] {
            assert_eq!(set.text(Path::new(path)).unwrap(), path);
        }
        for path in [own.as_path(), Path::new("b"), Path::new("/etc/hostname")] {
            let error = set.get(path).unwrap_err();
            assert_eq!(
                error.to_string(),
                "it is not among the files that the coordinator sent"
            );
        }
    }
}
