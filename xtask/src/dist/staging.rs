//! Folders in which the files of a package are put in place.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::{Error, epoch::Epoch};

/// The mode of what can be run.
pub(super) const PROGRAM: u32 = 0o755;
/// The mode of everything else.
pub(super) const FILE: u32 = 0o644;

/// A file that only a release has, so that `empty` knows its own folders.
const MARK: &str = "SHA256SUMS";

/// Makes `folder` an empty one. A folder that holds something other than a release stays as it is.
pub(super) fn empty(folder: &Path) -> Result<(), Error> {
    let is_filled = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let is_ours = folder.join(MARK).exists() || folder.join("work").exists();
    if is_filled && !is_ours {
        return Err(Error::NotOurs {
            path: folder.to_owned(),
        });
    }
    if is_filled {
        fs::remove_dir_all(folder).map_err(Error::file(folder))?;
    }
    self::folder(folder)
}

/// Creates a folder and its parents.
pub(super) fn folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::file(path))
}

/// Gives all of a package's folder the time of the release, and its folders their mode: neither the clock nor the umask gets
/// into the package.
pub(super) fn settle(folder: &Path, epoch: Epoch) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        if path.is_dir() {
            settle(&path, epoch)?;
        } else {
            set_time(&path, epoch)?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(PROGRAM)).map_err(Error::file(folder))?;
    set_time(folder, epoch)
}

fn set_time(path: &Path, epoch: Epoch) -> Result<(), Error> {
    let file = fs::File::open(path).map_err(Error::file(path))?;
    file.set_modified(epoch.of_files()).map_err(Error::file(path))
}

/// Copies a file to a place whose folders need not exist.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), Error> {
    let text = fs::read(from).map_err(Error::file(from))?;
    write(to, &text, mode)
}

/// Writes a file to a place whose folders need not exist.
pub(super) fn write(path: &Path, content: &[u8], mode: u32) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    fs::write(path, content).map_err(Error::file(path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::file(path))
}

/// The files in a folder and its subfolders, sorted.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::file(&folder))? {
            let path = entry.map_err(Error::file(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_a_release_is_emptied() {
        let folder = std::env::temp_dir().join(format!("plimsoll-staging-{}", std::process::id()));
        empty(&folder).unwrap();
        empty(&folder).unwrap();
        write(&folder.join("thesis.txt"), b"", FILE).unwrap();
        assert!(matches!(empty(&folder), Err(Error::NotOurs { .. })));
        assert!(folder.join("thesis.txt").exists());
        write(&folder.join(MARK), b"", FILE).unwrap();
        empty(&folder).unwrap();
        assert!(files(&folder).unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
