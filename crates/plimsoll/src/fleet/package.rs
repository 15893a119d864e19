//! What a coordinator sends to its agents.

use serde::{Deserialize, Serialize};

/// What an agent makes its part of a run from: a line of JSON, and the bytes of an archive behind it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Package {
    /// A k6 script.
    Script(ScriptPackage),
}

/// A k6 script, whose archive has its modules, files and options.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ScriptPackage {
    /// The script as the user named it.
    pub(crate) name: String,
    /// Whether thresholds are left out.
    pub(crate) no_thresholds: bool,
    /// Whether metrics are broken down by scenario and group.
    pub(crate) breaks_down: bool,
}

impl Package {
    /// The package with an archive as bytes.
    pub(crate) fn write(&self, archive: &[u8]) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("packages have only what JSON has");
        bytes.push(b'\n');
        bytes.extend_from_slice(archive);
        bytes
    }

    /// The package and its archive.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let (head, archive) = bytes.split_at(end.ok_or("the package has no head")?);
        let package =
            serde_json::from_slice(head).map_err(|error| format!("the head of the package: {error}"))?;
        Ok((package, &archive[1..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read_as_it_was_written() {
        let package = Package::Script(ScriptPackage {
            name: "line\nbreak.js".to_owned(),
            no_thresholds: true,
            breaks_down: false,
        });
        let bytes = package.write(b"tar\nbytes");
        let (Package::Script(read), archive) = Package::read(&bytes).expect("a package");
        assert_eq!(
            (read.name.as_str(), archive),
            ("line\nbreak.js", &b"tar\nbytes"[..])
        );
        for bytes in [&b""[..], b"{}\n", b"{\"kind\":\"x\"}\n", b"no end"] {
            assert!(Package::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
