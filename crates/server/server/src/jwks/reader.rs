//! Reads a set of keys from a file or over HTTP, up to a size.

use std::{
    error::Error,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy;
use plimsoll_trust::NoAuthorities;

use super::Location;
use crate::https::{self, Client, with_causes};

/// The largest set. A key takes about 500 bytes, with a chain of certificates a few thousand.
const MAX_BYTES: usize = 256 * 1024;

/// Why a set cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// There is no answer.
    #[error("{}", with_causes(.0))]
    Request(#[from] legacy::Error),
    /// The answer has another status than 200. Redirections are not followed: the keys decide who gets in, so they must
    /// come from the configured place.
    #[error("the answer is {0} instead of 200")]
    Status(StatusCode),
    /// The answer breaks off or is too large.
    #[error("read the answer of up to {MAX_BYTES} bytes: {0}")]
    Body(Box<dyn Error + Send + Sync>),
    /// The file is too large.
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLarge,
    /// Without certificate authorities no https server can be trusted.
    #[error(transparent)]
    NoAuthorities(#[from] NoAuthorities),
}

/// Reads a set of keys from its location.
#[derive(Debug)]
pub(super) enum Reader {
    File(PathBuf),
    Url { uri: Uri, client: Box<Client> },
}

impl Reader {
    /// Creates a reader. An https server needs a certificate of one of the system's authorities.
    pub(super) fn new(location: Location) -> Result<Self, ReadError> {
        Ok(match location {
            Location::File(path) => Self::File(path),
            Location::Url(uri) => Self::Url {
                // The next reading is minutes away, so a kept connection is useless.
                client: Box::new(https::client(&uri, Duration::ZERO)?),
                uri,
            },
        })
    }

    /// Reads the set.
    pub(super) async fn read(&self) -> Result<Vec<u8>, ReadError> {
        match self {
            Self::File(path) => read_file(path),
            Self::Url { uri, client } => get(client, uri.clone()).await,
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let one_too_many = MAX_BYTES as u64 + 1;
    File::open(path)?.take(one_too_many).read_to_end(&mut bytes)?;
    match bytes.len() {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(ReadError::TooLarge),
    }
}

async fn get(client: &Client, uri: Uri) -> Result<Vec<u8>, ReadError> {
    let request = Request::get(uri)
        .header(header::ACCEPT, "application/jwk-set+json, application/json")
        .body(Full::default())
        .expect("the URI was parsed, and the header is valid");
    let response = client.request(request).await?;
    if response.status() != StatusCode::OK {
        return Err(ReadError::Status(response.status()));
    }
    let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    Ok(body.map_err(ReadError::Body)?.to_bytes().into())
}
