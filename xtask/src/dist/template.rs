//! Files of `deploy/packages` with `{{name}}` in them.

use std::{fs, path::Path};

use super::{Error, Release, staging, target::Target};
use crate::repository;

/// Fills in a file of `deploy/packages` and writes it to `to`.
pub(super) fn write(name: &str, values: &[(&str, &str)], to: &Path, mode: u32) -> Result<(), Error> {
    let path = repository::root().join("deploy/packages").join(name);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    let filled = filled(&text, values).map_err(|name| Error::Template { path, name })?;
    staging::write(to, filled.as_bytes(), mode)
}

/// What most templates name: the version, and the target's names.
pub(super) fn values(release: &Release, target: Target) -> [(&'static str, &'static str); 4] {
    [
        ("version", release.version),
        ("debian", target.debian()),
        ("node", target.node()),
        ("machine", target.machine()),
    ]
}

/// The text with values in place of names. An unknown name is the error.
fn filled(text: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let mut parts = text.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.ok_or_else(|| name.to_owned())?;
        filled.push_str(value);
        filled.push_str(rest);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_unknown_ones_are_errors() {
        let check = |text, expected: Result<&str, &str>| {
            let found = filled(text, &[("a", "1"), ("b", "two")]);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("{{a}} and {{b}}.", Ok("1 and two."));
        check("{a} {b}", Ok("{a} {b}"));
        check("{{c}}", Err("c"));
        check("{{a", Ok("1"));
        check("", Ok(""));
    }
}
