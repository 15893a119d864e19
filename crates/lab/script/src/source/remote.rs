//! Modules from elsewhere: fetched once, then read from a cache.

mod cache;
mod fetch;

use std::{ffi::OsString, path::PathBuf};

use plimsoll_clients::dial::Proxies;
use rustls::RootCertStore;

pub use self::fetch::FetchError;
use self::{
    cache::{Cache, Kept},
    fetch::Fetcher,
};
use super::Specifier;

/// Why a remote module cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It is not in the cache, and the network is not to be used.
    #[error(
        "{module} is not in the cache{place}, and --offline forbids to fetch it; run once without --offline"
    )]
    Offline {
        /// Which one.
        module: Specifier,
        /// Where the cache is.
        place: String,
    },
    /// What is in the cache is not what was put there, and the network is not to be used.
    #[error(
        "the copy of {module} in the cache ({}) is damaged, and --offline forbids to fetch it; run once without \
         --offline",
        path.display()
    )]
    Damaged {
        /// Which one.
        module: Specifier,
        /// The copy.
        path: PathBuf,
    },
    /// It cannot be fetched.
    #[error("cannot fetch {module}: {cause}")]
    Fetch {
        /// Which one.
        module: Specifier,
        /// Why.
        cause: FetchError,
    },
}

/// The folder for copies of fetched modules: the user's cache, by the variables of the XDG base directory specification.
/// `None` when they say nothing.
pub fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("plimsoll").join("modules"))
}

/// Reads remote modules.
#[derive(Debug)]
pub(super) struct Remote {
    cache: Option<Cache>,
    /// `None` when the network is not to be used.
    fetcher: Option<Fetcher>,
}

/// A remote module's source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fetched {
    pub(super) text: String,
    /// Where it came from, or what went wrong beside.
    pub(super) notices: Vec<String>,
}

impl Remote {
    /// Keeps what it fetches in this folder, if there is one. `authorities` vouch for servers; by default the system's.
    pub(super) fn new(folder: Option<PathBuf>, is_offline: bool, authorities: Option<RootCertStore>) -> Self {
        Self {
            cache: folder.map(Cache::new),
            fetcher: (!is_offline).then(|| Fetcher::new(authorities)),
        }
    }

    /// The same, with connections through these proxies.
    #[must_use]
    pub(super) fn through(self, proxies: Proxies) -> Self {
        Self {
            fetcher: self.fetcher.map(|fetcher| fetcher.through(proxies)),
            ..self
        }
    }

    /// The source from the cache or from the network.
    pub(super) async fn read(&self, module: &Specifier) -> Result<Fetched, RemoteError> {
        let mut notices = Vec::new();
        let kept = self.cache.as_ref().map(|cache| cache.read(module));
        match kept {
            Some(Kept::Intact { text, path }) => {
                notices.push(format!("{module} is read from the cache: {}", path.display()));
                return Ok(Fetched { text, notices });
            }
            Some(Kept::Damaged { path }) if self.fetcher.is_none() => {
                let module = module.clone();
                return Err(RemoteError::Damaged { module, path });
            }
            Some(Kept::Damaged { path }) => {
                notices.push(format!(
                    "the copy of {module} in the cache is damaged and is fetched again: {}",
                    path.display()
                ));
            }
            Some(Kept::Nothing) | None => {}
        }
        let text = self.fetch(module).await?;
        if let Some(cache) = &self.cache
            && let Err(error) = cache.keep(module, &text)
        {
            notices.push(format!("{module} could not be saved in the cache: {error}"));
        }
        Ok(Fetched { text, notices })
    }

    async fn fetch(&self, module: &Specifier) -> Result<String, RemoteError> {
        let Some(fetcher) = &self.fetcher else {
            let place = self
                .cache
                .as_ref()
                .map(|cache| format!(" ({})", cache.folder().display()));
            return Err(RemoteError::Offline {
                module: module.clone(),
                place: place.unwrap_or_default(),
            });
        };
        fetcher.fetch(module).await.map_err(|cause| RemoteError::Fetch {
            module: module.clone(),
            cause,
        })
    }
}

#[cfg(test)]
mod tests;
