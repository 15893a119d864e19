//! `package.json`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::source::{MAX_SOURCE_BYTES, Unresolved};

/// The fields that say where modules are.
pub(super) struct Manifest {
    /// The folder of the package.
    pub(super) folder: PathBuf,
    pub(super) name: Option<String>,
    pub(super) main: Option<String>,
    pub(super) exports: Option<Value>,
    pub(super) imports: Option<Value>,
}

impl Manifest {
    /// That of a folder; `None` when it has none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Unresolved> {
        let path = folder.join("package.json");
        let unreadable = |reason: String| Unresolved::Manifest {
            manifest: path.display().to_string(),
            reason,
        };
        let size = match fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(unreadable(error.to_string())),
        };
        if size > MAX_SOURCE_BYTES as u64 {
            return Err(unreadable(format!("it has more than {MAX_SOURCE_BYTES} bytes")));
        }
        let text = fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
        let fields: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| unreadable(error.to_string()))?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let value = |key: &str| fields.get(key).filter(|value| !value.is_null()).cloned();
        Ok(Some(Self {
            folder: folder.to_owned(),
            name: text("name"),
            main: text("main").filter(|main| !main.is_empty()),
            exports: value("exports"),
            imports: value("imports"),
        }))
    }

    /// That of the package that a folder belongs to.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn above(folder: &Path) -> Result<Option<Self>, Unresolved> {
        for folder in folder.ancestors() {
            if folder.ends_with("node_modules") {
                return Ok(None);
            }
            if let Some(manifest) = Self::read(folder)? {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    /// The file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join("package.json")
    }
}
