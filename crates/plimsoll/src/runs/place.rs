//! The folder of saved runs: one per user, in the data folder of the XDG base directory specification.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::surroundings::Surroundings;

/// No folder for runs is known.
#[derive(Debug, Error)]
#[error("no folder for runs is known: set PLIMSOLL_DATA_DIR to a folder, or set HOME")]
pub(super) struct NoPlace;

/// `PLIMSOLL_DATA_DIR`, or else `plimsoll` in `XDG_DATA_HOME` or `~/.local/share`.
pub(super) fn folder(surroundings: &Surroundings<'_>) -> Result<PathBuf, NoPlace> {
    let variable = |name: &str| {
        let found = surroundings.environment.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_os_str())
            .filter(|value| !value.is_empty())
    };
    place(&variable).ok_or(NoPlace)
}

fn place<'a>(variable: &impl Fn(&str) -> Option<&'a OsStr>) -> Option<PathBuf> {
    if let Some(folder) = variable("PLIMSOLL_DATA_DIR") {
        return Some(folder.into());
    }
    // The specification has relative paths ignored.
    let xdg = variable("XDG_DATA_HOME")
        .map(Path::new)
        .filter(|path| path.is_absolute());
    let data = match xdg {
        Some(path) => path.to_owned(),
        None => Path::new(variable("HOME")?).join(".local/share"),
    };
    Some(data.join("plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_three_places_is_taken() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsStr::new(*value))
            };
            assert_eq!(
                place(&variable).as_deref(),
                expected.map(Path::new),
                "{variables:?}"
            );
        };
        let (own, xdg, home) = (
            ("PLIMSOLL_DATA_DIR", "runs"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/u/a"),
        );
        check(&[own, xdg, home], Some("runs"));
        check(&[xdg, home], Some("/data/plimsoll"));
        check(
            &[("XDG_DATA_HOME", "data"), home],
            Some("/u/a/.local/share/plimsoll"),
        );
        check(&[home], Some("/u/a/.local/share/plimsoll"));
        check(&[], None);
    }
}
