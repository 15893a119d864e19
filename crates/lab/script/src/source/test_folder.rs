//! A folder with files for one test.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use super::Specifier;

/// It ends with this.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// With these files, by name and text.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let number = N_MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-source-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder for temporary files takes one more");
        let folder = Self(path);
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the test's own folder");
        fs::write(path, bytes).expect("the test's own folder");
    }

    pub(crate) fn specifier(&self, name: &str) -> Specifier {
        Specifier::of_file(&self.0.join(name)).expect("the path is absolute")
    }

    /// A text without the folder's own path.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("nobody else removes it");
    }
}
