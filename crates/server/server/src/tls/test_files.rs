//! A self-signed certificate and its key, in files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// A folder with both files, deleted on drop.
pub(crate) struct TestFiles(PathBuf);

impl TestFiles {
    /// Creates the folder with a key and a matching certificate.
    pub(crate) fn new() -> Self {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let number = N_MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("plimsoll-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder for temporary files takes one more");
        let files = Self(folder);
        let (chain, key) = pair();
        files.write_chain(&chain);
        files.write_key(&key);
        files
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.0.join("cert.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.0.join("key.pem")
    }

    pub(crate) fn write_chain(&self, text: &str) {
        write(&self.chain(), text);
    }

    pub(crate) fn write_key(&self, text: &str) {
        write(&self.key(), text);
    }
}

impl Drop for TestFiles {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("nobody else removes it");
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the test's own folder");
}

/// Makes a certificate for `localhost` and its key.
pub(crate) fn pair() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a valid name");
    (made.cert.pem(), made.signing_key.serialize_pem())
}
