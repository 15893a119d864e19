//! What the process was started in, as far as settings can come from it: read once, then passed down.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    path::Path,
};

use plimsoll_clients::dial::{Proxies, ProxiesError};

/// The longest text file, in bytes. Reason: none that people write is nearly as long, and some have no end.
const MOST_BYTES: u64 = 256 << 20;

/// The environment and the files.
pub(crate) struct Surroundings<'a> {
    /// Names and values of the environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Reads a text file; relative paths are relative to the working directory.
    pub(crate) read_file: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl Surroundings<'_> {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            environment: std::env::vars_os().collect(),
            read_file: &|path| read_text(File::open(path)?),
        }
    }

    /// These variables, and no file.
    #[cfg(test)]
    pub(crate) fn of_variables(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| (name.into(), value.into());
        Self {
            environment: variables.iter().map(owned).collect(),
            read_file: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    /// A variable that is set; `None` also when it is empty or no text.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.environment.iter().find(|(known, _)| known == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }

    /// The proxies of the environment, for scripts, fetched modules and servers of secrets.
    ///
    /// # Errors
    /// A variable names no proxy that can be used.
    pub(crate) fn proxies(&self) -> Result<Proxies, ProxiesError> {
        Proxies::from_variables(|name| self.variable(name))
    }
}

/// All of a text.
///
/// # Errors
/// When it cannot be read, is not UTF-8, or has more than 256 MiB.
pub(crate) fn read_text(file: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let n_read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if n_read as u64 > MOST_BYTES {
        return Err(io::Error::other("it is longer than 256 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let problem = match error.as_bytes() {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16; save it as UTF-8".to_owned(),
            _ => format!(
                "it is not text in UTF-8: byte {} belongs to no character",
                error.utf8_error().valid_up_to() + 1
            ),
        };
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told() {
        let check = |bytes: &[u8], expected: Result<&str, &str>| {
            let found = read_text(bytes).map_err(|error| error.to_string());
            assert_eq!(
                found.as_ref().map(String::as_str).map_err(String::as_str),
                expected
            );
        };
        check("größer".as_bytes(), Ok("größer"));
        check(b"\xff\xfea\0", Err("it is UTF-16; save it as UTF-8"));
        check(
            b"ab\xe4c",
            Err("it is not text in UTF-8: byte 3 belongs to no character"),
        );
        let endless = read_text(io::repeat(b'a')).unwrap_err();
        assert_eq!(endless.to_string(), "it is longer than 256 MiB");
    }
}
