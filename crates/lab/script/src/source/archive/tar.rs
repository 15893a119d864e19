//! Tar files (POSIX.1-1988 "ustar", and pax headers of POSIX.1-2001 for long names), as far as archives of scripts need
//! them. A library would be a dependency for two hundred lines.

use std::io::{self, Write};

/// The size of a block: a header, and the unit in which contents are padded.
pub(super) const BLOCK: usize = 512;

/// The most files of an archive.
const MAX_ENTRIES: usize = 100_000;

/// The fields of a header: their places.
const NAME: std::ops::Range<usize> = 0..100;
const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const TYPE: usize = 156;
const LINK: std::ops::Range<usize> = 157..257;
const MAGIC: std::ops::Range<usize> = 257..263;
const PREFIX: std::ops::Range<usize> = 345..500;

/// A file is not tar.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// A header is damaged.
    #[error("the checksum of the tar header at byte {0} is wrong")]
    Checksum(usize),
    /// A header has no valid size.
    #[error("the tar header at byte {0} has no valid size")]
    Size(usize),
    /// The file breaks off.
    #[error("the tar file ends within the file at byte {0}")]
    Ends(usize),
    /// A kind of entry that archives of scripts do not have.
    #[error("the tar entry at byte {at} is of the unsupported kind {kind:?}")]
    Kind {
        /// The position of its header.
        at: usize,
        /// Its type.
        kind: char,
    },
    /// A name is not UTF-8.
    #[error("a name in the tar file at byte {0} is not UTF-8")]
    Name(usize),
    /// Too many files.
    #[error("the tar file has more than {MAX_ENTRIES} entries")]
    TooMany,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    HardLink,
}

/// A file of an archive.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) content: &'a [u8],
}

/// Whether a file begins like a tar file.
pub(super) fn is_tar(block: &[u8]) -> bool {
    block.len() >= BLOCK && block[..BLOCK].iter().any(|byte| *byte != 0) && has_checksum(&block[..BLOCK])
}

/// The entries of a tar file, up to the first error.
pub(super) fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, TarError>> {
    let mut at = 0;
    let mut n_entries = 0;
    let mut has_failed = false;
    std::iter::from_fn(move || {
        if has_failed {
            return None;
        }
        let entry = next(bytes, &mut at, &mut n_entries).transpose();
        has_failed = matches!(entry, Some(Err(_)));
        entry
    })
}

fn next<'a>(bytes: &'a [u8], at: &mut usize, n_entries: &mut usize) -> Result<Option<Entry<'a>>, TarError> {
    let mut long_path = None;
    loop {
        let begin = *at;
        let Some(header) = bytes.get(begin..begin + BLOCK) else {
            return if bytes.len() == begin {
                Ok(None)
            } else {
                Err(TarError::Ends(begin))
            };
        };
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        if !has_checksum(header) {
            return Err(TarError::Checksum(begin));
        }
        *n_entries += 1;
        if *n_entries > MAX_ENTRIES {
            return Err(TarError::TooMany);
        }
        let size = octal(&header[SIZE]).ok_or(TarError::Size(begin))?;
        let from = begin + BLOCK;
        let end = from.checked_add(size).ok_or(TarError::Size(begin))?;
        let content = bytes.get(from..end).ok_or(TarError::Ends(begin))?;
        *at = end.next_multiple_of(BLOCK).min(bytes.len());
        let kind = match header[TYPE] {
            0 | b'0' => Kind::File,
            b'1' => Kind::HardLink,
            b'5' => Kind::Folder,
            b'x' => {
                long_path = pax_path(content).map(str::to_owned);
                continue;
            }
            b'g' => continue,
            b'L' => {
                let name = content.split(|byte| *byte == 0).next().unwrap_or_default();
                long_path = Some(utf8(name, begin)?);
                continue;
            }
            kind => {
                return Err(TarError::Kind {
                    at: begin,
                    kind: char::from(kind),
                });
            }
        };
        let path = match long_path {
            Some(path) => path,
            None => short_path(header, begin)?,
        };
        return Ok(Some(Entry { path, kind, content }));
    }
}

fn short_path(header: &[u8], at: usize) -> Result<String, TarError> {
    let field =
        |range: std::ops::Range<usize>| header[range].split(|byte| *byte == 0).next().unwrap_or_default();
    let name = utf8(field(NAME), at)?;
    let is_ustar = header[MAGIC].starts_with(b"ustar");
    match field(PREFIX) {
        prefix if is_ustar && !prefix.is_empty() => Ok(format!("{}/{name}", utf8(prefix, at)?)),
        _ => Ok(name),
    }
}

fn utf8(bytes: &[u8], at: usize) -> Result<String, TarError> {
    let text = std::str::from_utf8(bytes).map_err(|_| TarError::Name(at))?;
    Ok(text.to_owned())
}

/// The `path` of a pax header: records `LENGTH NAME=VALUE\n`.
fn pax_path(mut records: &[u8]) -> Option<&str> {
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(&records[..blank]).ok()?.parse().ok()?;
        let record = records.get(blank + 1..length.checked_sub(1)?)?;
        if let Some(path) = record.strip_prefix(b"path=") {
            return std::str::from_utf8(path).ok();
        }
        records = records.get(length..)?;
    }
    None
}

fn octal(field: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(field).ok()?;
    usize::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
}

fn has_checksum(header: &[u8]) -> bool {
    octal(&header[CHECKSUM]) == Some(checksum(header))
}

/// The sum of all bytes, with blanks in place of the checksum itself.
fn checksum(header: &[u8]) -> usize {
    let bytes = header.iter().enumerate();
    bytes
        .map(|(at, byte)| usize::from(if CHECKSUM.contains(&at) { b' ' } else { *byte }))
        .sum()
}

/// Writes a tar file.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    pub(super) fn file(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.header(path, b'0', "", content.len())?;
        self.padded(content)
    }

    pub(super) fn folder(&mut self, path: &str) -> io::Result<()> {
        self.header(path, b'5', "", 0)
    }

    pub(super) fn hard_link(&mut self, path: &str, to: &str) -> io::Result<()> {
        self.header(path, b'1', to, 0)
    }

    /// Two empty blocks are the end.
    pub(super) fn finish(self) -> io::Result<()> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        self.out.flush()
    }

    fn padded(&mut self, content: &[u8]) -> io::Result<()> {
        self.out.write_all(content)?;
        let n_missing = content.len().next_multiple_of(BLOCK) - content.len();
        self.out.write_all(&[0; BLOCK][..n_missing])
    }

    fn header(&mut self, path: &str, kind: u8, link: &str, size: usize) -> io::Result<()> {
        if path.len() > NAME.len() || !path.is_ascii() {
            let record = pax_record("path", path);
            self.block("pax", b'x', "", record.len())?;
            self.padded(record.as_bytes())?;
        }
        let short: String = path.chars().filter(char::is_ascii).take(NAME.len()).collect();
        self.block(&short, kind, link, size)
    }

    fn block(&mut self, name: &str, kind: u8, link: &str, size: usize) -> io::Result<()> {
        let mut header = [0; BLOCK];
        let mut put = |place: usize, bytes: &[u8]| header[place..place + bytes.len()].copy_from_slice(bytes);
        put(NAME.start, name.as_bytes());
        put(100, if kind == b'5' { b"0000755\0" } else { b"0000644\0" });
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(SIZE.start, format!("{size:011o}\0").as_bytes());
        put(136, b"00000000000\0");
        put(TYPE, &[kind]);
        put(LINK.start, link.as_bytes());
        put(MAGIC.start, b"ustar\x0000");
        let sum = checksum(&header);
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.out.write_all(&header)
    }
}

/// A record of a pax header, whose length counts itself.
fn pax_record(name: &str, value: &str) -> String {
    let rest = format!(" {name}={value}\n");
    let mut length = rest.len() + 1;
    while length.to_string().len() + rest.len() != length {
        length = length.to_string().len() + rest.len();
    }
    format!("{length}{rest}")
}
