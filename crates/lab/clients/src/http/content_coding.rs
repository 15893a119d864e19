//! Content codings (RFC 9110 §8.4): decoded for received bodies, encoded for bodies that a request asks to compress.

use std::{fmt, io, io::Read, str::FromStr};

use flate2::{
    Compression,
    read::{DeflateDecoder, GzEncoder, MultiGzDecoder, ZlibDecoder, ZlibEncoder},
};
use ruzstd::{
    decoding::StreamingDecoder,
    encoding::{CompressionLevel, compress_to_vec},
};

use super::HttpError;

/// The buffer size of a brotli coder.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Brotli's own default for dynamic content; 11, its best, takes a hundred times as long.
const BROTLI_QUALITY: u32 = 5;

/// Brotli's default window, 4 MiB.
const BROTLI_WINDOW_BITS: u32 = 22;

/// The most codings on top of each other. Real bodies have one.
const MAX_CODINGS: usize = 5;

/// A way to compress a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip` (RFC 1952).
    Gzip,
    /// `deflate`, which is zlib's format (RFC 1950).
    Deflate,
    /// `br` (RFC 7932).
    Brotli,
    /// `zstd` (RFC 8878).
    Zstd,
}

/// An unknown name of a coding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown compression {0:?}; expected gzip, deflate, br or zstd, or a comma-separated list of them")]
pub struct UnknownCoding(pub String);

impl Coding {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Compresses a body.
    pub fn encode(self, body: &[u8]) -> Vec<u8> {
        let read = |mut coder: Box<dyn Read + '_>| {
            let mut encoded = Vec::new();
            coder
                .read_to_end(&mut encoded)
                .expect("compressing memory meets no error of the system");
            encoded
        };
        match self {
            Self::Gzip => read(Box::new(GzEncoder::new(body, Compression::default()))),
            Self::Deflate => read(Box::new(ZlibEncoder::new(body, Compression::default()))),
            Self::Brotli => {
                let coder = brotli::CompressorReader::new(
                    body,
                    BROTLI_BUFFER_BYTES,
                    BROTLI_QUALITY,
                    BROTLI_WINDOW_BITS,
                );
                read(Box::new(coder))
            }
            Self::Zstd => compress_to_vec(body, CompressionLevel::Fastest),
        }
    }

    fn decode(self, body: &[u8], max_bytes: usize) -> io::Result<Vec<u8>> {
        let coder: Box<dyn Read + '_> = match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(body)),
            // Some servers send the bare format (RFC 1951), whose first byte differs from zlib's.
            Self::Deflate if body.first().is_some_and(|byte| byte & 0x0f == 8) => {
                Box::new(ZlibDecoder::new(body))
            }
            Self::Deflate => Box::new(DeflateDecoder::new(body)),
            Self::Brotli => Box::new(brotli::Decompressor::new(body, BROTLI_BUFFER_BYTES)),
            Self::Zstd => return decode_zstd(body, max_bytes),
        };
        let mut decoded = Vec::new();
        coder.take(max_bytes as u64 + 1).read_to_end(&mut decoded)?;
        Ok(decoded)
    }
}

/// Several consecutive frames are one body (RFC 8878 §3).
fn decode_zstd(body: &[u8], max_bytes: usize) -> io::Result<Vec<u8>> {
    let (mut rest, mut decoded) = (body, Vec::new());
    while !rest.is_empty() && decoded.len() <= max_bytes {
        let frame = StreamingDecoder::new(&mut rest).map_err(io::Error::other)?;
        let n_allowed = max_bytes - decoded.len() + 1;
        frame.take(n_allowed as u64).read_to_end(&mut decoded)?;
    }
    Ok(decoded)
}

impl FromStr for Coding {
    type Err = UnknownCoding;

    fn from_str(text: &str) -> Result<Self, UnknownCoding> {
        match text.trim().to_ascii_lowercase().as_str() {
            // RFC 9110 §8.4.1.3.
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "br" => Ok(Self::Brotli),
            "zstd" => Ok(Self::Zstd),
            _ => Err(UnknownCoding(text.trim().to_owned())),
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Decodes the codings in `Content-Encoding`, the last one first. An unknown coding stops it, and the script gets the
/// remaining bytes, as in k6. An empty body has no codings, whatever the head says.
pub(super) fn decode(list: &str, body: Vec<u8>, max_bytes: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = body;
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "identity");
    for (position, name) in names.rev().enumerate() {
        let Ok(coding) = name.parse::<Coding>() else {
            break;
        };
        if body.is_empty() {
            break;
        }
        let failed = |reason: String| HttpError::Decompression {
            coding: coding.name().to_owned(),
            reason,
        };
        if position == MAX_CODINGS {
            return Err(failed(format!("more than {MAX_CODINGS} codings")));
        }
        body = coding
            .decode(&body, max_bytes)
            .map_err(|error| failed(error.to_string()))?;
        if body.len() > max_bytes {
            return Err(HttpError::TooLarge {
                what: "body",
                max_bytes,
            });
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

    #[test]
    fn codings_are_undone_from_the_last_to_the_first() {
        let body = b"hello hello hello".to_vec();
        for coding in ALL {
            let encoded = coding.encode(&body);
            assert_eq!(decode(coding.name(), encoded, 100).unwrap(), body, "{coding}");
        }
        let both = Coding::Brotli.encode(&Coding::Gzip.encode(&body));
        assert_eq!(decode("gzip, BR", both, 100).unwrap(), body);
        assert_eq!(decode("x-own", b"x".to_vec(), 100).unwrap(), b"x");
        assert_eq!(decode("gzip", Vec::new(), 100).unwrap(), b"");
        let twice = [Coding::Zstd.encode(b"he"), Coding::Zstd.encode(b"llo")].concat();
        assert_eq!(decode("zstd", twice, 100).unwrap(), b"hello");
        let bare = [0x4b, 0x04, 0x00];
        assert_eq!(decode("deflate", bare.to_vec(), 100).unwrap(), b"a");
    }

    #[test]
    fn a_body_that_is_cut_anywhere_is_no_body() {
        let body: Vec<_> = (0..300_u16).flat_map(|n| n.to_string().into_bytes()).collect();
        for coding in ALL {
            let encoded = coding.encode(&body);
            for end in 1..encoded.len() {
                let decoded = decode(coding.name(), encoded[..end].to_vec(), 10_000);
                let code = decoded.as_ref().map_err(HttpError::code);
                assert_eq!(code, Err(1701), "{coding}, {end} of {} bytes", encoded.len());
            }
        }
    }

    #[test]
    fn a_bomb_is_stopped() {
        for coding in ALL {
            let bomb = coding.encode(&vec![0; 1 << 20]);
            let error = decode(coding.name(), bomb, 1000).unwrap_err();
            assert!(matches!(error, HttpError::TooLarge { .. }), "{coding}: {error}");
        }
        let deep = "gzip,".repeat(MAX_CODINGS + 1);
        let mut body = b"x".to_vec();
        for _ in 0..=MAX_CODINGS {
            body = Coding::Gzip.encode(&body);
        }
        assert_eq!(decode(&deep, body, 1000).unwrap_err().code(), 1701);
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for coding in ALL {
                let _ = decode(coding.name(), bytes.clone(), 1000);
            }
        }
    }
}
