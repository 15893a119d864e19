//! Where functions for Node find their files: on this machine, or among those that came with their module.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::source::without_dots;

/// The files of a module of functions.
#[derive(Debug)]
pub(crate) enum Shelf {
    /// Those of this machine, and the paths that were there when the module was loaded.
    Machine(Mutex<BTreeSet<PathBuf>>),
    /// These and no others, by path. `None`: it is there, and no file that the module has read.
    Packed(BTreeMap<PathBuf, Option<Arc<[u8]>>>),
}

impl Default for Shelf {
    fn default() -> Self {
        Self::Machine(Mutex::default())
    }
}

impl Shelf {
    /// A path on this machine is there.
    pub(crate) fn found(&self, path: &Path) {
        if let Self::Machine(found) = self {
            found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(without_dots(path));
        }
    }

    /// All paths that were found.
    pub(crate) fn all_found(&self) -> Vec<PathBuf> {
        match self {
            Self::Machine(found) => {
                let found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.iter().cloned().collect()
            }
            Self::Packed(files) => files.keys().cloned().collect(),
        }
    }

    /// What came with the module at this path. `None`: the files are those of this machine.
    pub(crate) fn packed(&self, path: &Path) -> Option<Place> {
        let Self::Packed(files) = self else { return None };
        Some(match files.get(&without_dots(path)) {
            None => Place::Nothing,
            Some(None) => Place::Something,
            Some(Some(content)) => Place::File(Arc::clone(content)),
        })
    }
}

/// What is at a path among the files that came with a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Nothing,
    /// Something that was not sent.
    Something,
    File(Arc<[u8]>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_what_came_with_it() {
        let files = [("/a/b", Some(Arc::from(&b"1"[..]))), ("/a", None)];
        let shelf = Shelf::Packed(files.map(|(path, content)| (path.into(), content)).into());
        let check = |path: &str, expected: Place| {
            assert_eq!(shelf.packed(Path::new(path)), Some(expected), "{path}");
        };
        check("/a/b", Place::File(Arc::from(&b"1"[..])));
        check("/a/c/.././b", Place::File(Arc::from(&b"1"[..])));
        check("/a", Place::Something);
        check("/etc/passwd", Place::Nothing);
        check("/../../etc/passwd", Place::Nothing);
        assert_eq!(Shelf::default().packed(Path::new("/a")), None);
    }
}
