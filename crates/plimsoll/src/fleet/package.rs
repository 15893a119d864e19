//! What a coordinator sends to its agents.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_fleet::MAX_PACKAGE_BYTES;
use plimsoll_script::PackedProcessor;
use plimsoll_shootout::agent::Job;
use serde::{Deserialize, Serialize};

use super::FileEntry;
use crate::run::{PackedSecrets, SteadyLoad};

/// What an agent makes its part of a run from: a line of JSON, and the bytes of an archive behind it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Package {
    /// A k6 script.
    Script(ScriptPackage),
    /// An Artillery file.
    Artillery(Box<ArtilleryPackage>),
    /// A wsdirector scenario, whose text is behind the head, without templates.
    Wsdirector(WsdirectorPackage),
    /// Clients of a bench. Behind the head is the body of the request, if it is one of HTTP.
    Bench(Box<BenchPackage>),
}

/// Clients of a bench.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BenchPackage {
    /// The clients.
    pub(crate) job: Job,
    /// The memory of the records of messages on each agent, in bytes, and the number of messages.
    pub(crate) record_bytes: u64,
    pub(crate) n_messages: u64,
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
    /// The secrets that the script may read. Without --fleet-secrets there are none.
    pub(crate) secrets: PackedSecrets,
    /// The load of a step of a search, in place of the script's own.
    pub(crate) steady: Option<SteadyLoad>,
}

/// An Artillery file with the flags of its run. Paths are those of the coordinator.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ArtilleryPackage {
    /// The files that lie over each other, in their order.
    pub(crate) sources: Vec<String>,
    /// `--config`, which is among the sources.
    pub(crate) config: Option<String>,
    pub(crate) payload: Option<String>,
    pub(crate) overrides: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) environment: Option<String>,
    /// `--variables`.
    pub(crate) variables: Option<String>,
    pub(crate) scenario_name: Option<String>,
    pub(crate) is_insecure: bool,
    pub(crate) is_solo: bool,
    pub(crate) max_duration: Option<Duration>,
    /// The seed of what is random and the same for all users.
    pub(crate) seed: u64,
    /// Variables of the coordinator's environment.
    pub(crate) system: BTreeMap<String, String>,
    /// All files, in the order of their contents.
    pub(crate) files: Vec<FileEntry>,
    /// The modules of functions, by their paths.
    pub(crate) processors: BTreeMap<String, PackedProcessor>,
    /// The load of a step of a search, in place of the file's own.
    pub(crate) steady: Option<SteadyLoad>,
}

/// A wsdirector scenario with the flags of its run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WsdirectorPackage {
    /// The scenario as the user named it.
    pub(crate) name: String,
    pub(crate) scale: u32,
    pub(crate) url: String,
    pub(crate) subprotocol: Option<String>,
    pub(crate) is_insecure: bool,
    /// How long a `wait_all` waits without an arriving client.
    pub(crate) timeout: Duration,
    /// Whether all messages of clients are logged.
    pub(crate) shows_messages: bool,
}

impl Package {
    /// The package with an archive as bytes.
    ///
    /// # Errors
    /// It is too large.
    pub(crate) fn write(&self, archive: &[u8]) -> Result<Vec<u8>, String> {
        let mut bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        bytes.extend_from_slice(archive);
        if bytes.len() as u64 > MAX_PACKAGE_BYTES {
            return Err(format!(
                "the test with its files has {} bytes, and agents take at most {MAX_PACKAGE_BYTES}",
                bytes.len()
            ));
        }
        Ok(bytes)
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
            secrets: PackedSecrets::default(),
            steady: None,
        });
        let bytes = package.write(b"tar\nbytes").unwrap();
        let Ok((Package::Script(read), archive)) = Package::read(&bytes) else {
            panic!("no package");
        };
        assert_eq!(
            (read.name.as_str(), archive),
            ("line\nbreak.js", &b"tar\nbytes"[..])
        );
        for bytes in [
            &b""[..],
            b"{}\n",
            b"{\"kind\":\"x\"}\n",
            b"{\"kind\":\"bench\"}\n",
            b"no end",
        ] {
            assert!(Package::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
