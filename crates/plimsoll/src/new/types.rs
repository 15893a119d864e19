//! The files beside scripts that editors and the TypeScript compiler read.

use std::{fs, io, path::Path};

use plimsoll_script::modules;

use crate::exit::Failure;

/// The declarations of all modules and globals of scripts.
const TYPES_FILE: &str = "plimsoll.d.ts";
/// The settings of the compiler. They belong to the user as soon as they exist.
const SETTINGS_FILE: &str = "tsconfig.json";

/// The files that were written, and those that were there before.
#[derive(Debug, Default)]
pub(super) struct Written {
    new: Vec<String>,
    kept: Vec<String>,
}

impl Written {
    pub(super) fn sentence(&self) -> String {
        let new = self.new.join(" and ");
        let kept = self.kept.join(" and ");
        match (self.new.is_empty(), self.kept.is_empty()) {
            (false, true) => format!("Wrote {new}"),
            (true, false) => format!("Kept {kept}"),
            _ => format!("Wrote {new}; kept {kept}"),
        }
    }
}

/// Writes the types and the settings into a folder. Existing files stay; with `force`, the types are written again.
pub(super) fn write(folder: &Path, force: bool) -> Result<Written, Failure> {
    let mut written = Written::default();
    let types = modules::declarations();
    let files = [
        (TYPES_FILE, types.as_str(), force),
        (SETTINGS_FILE, include_str!("tsconfig.json"), false),
    ];
    for (name, text, replaces) in files {
        let path = folder.join(name);
        let shown = path.display().to_string();
        let failed = |error: io::Error| Failure::Usage(format!("cannot write {shown}: {error}"));
        let exists = path.try_exists().map_err(failed)?;
        if exists && !replaces {
            let is_old = name == TYPES_FILE && fs::read_to_string(&path).is_ok_and(|old| old != text);
            let hint = if is_old {
                " (not the types of this version; --force renews them)"
            } else {
                ""
            };
            written.kept.push(format!("{shown}{hint}"));
        } else {
            fs::write(&path, text).map_err(failed)?;
            written.new.push(shown);
        }
    }
    Ok(written)
}
