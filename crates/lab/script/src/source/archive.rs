//! Archives of scripts: k6's format, a tar file with the entry, all modules and files that it needs, and the options of
//! the test (docs/protocols/k6.md, Archives).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{FileError, OpenError, Specifier, file};

mod tar;

use self::tar::{Entry, Kind, TarError};

/// The largest archive that is read.
const MAX_BYTES: u64 = 1 << 30;

/// The version of k6 whose format is written.
const K6_VERSION: &str = "1.8.1";

/// The entry's place in an archive.
const DATA: &str = "data";

/// The description's place in an archive.
const METADATA: &str = "metadata.json";

/// The content of an archive.
#[derive(Debug)]
pub struct Archive {
    entry: Specifier,
    entry_text: String,
    /// Modules and files, by path.
    files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Fetched modules.
    remote: BTreeMap<Specifier, String>,
    /// The options of the test, without those that are null.
    pub options: Map<String, Value>,
    /// `__ENV` as the archive was made.
    pub env: BTreeMap<String, String>,
}

/// A file is no usable archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// It is not a tar file.
    #[error(transparent)]
    Tar(#[from] TarError),
    /// It has more bytes than is reasonable.
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLarge,
    /// A part that every archive has is missing, or is not what it should be.
    #[error("{part} {problem}; expected an archive of k6 or of `plimsoll archive`")]
    Part {
        /// The file in the archive.
        part: String,
        /// What is wrong.
        problem: String,
    },
}

impl Archive {
    /// Reads the archive at `path`; `None` if the file is no tar file.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn read_file(path: &Path) -> Result<Option<Self>, ArchiveError> {
        let mut file = File::open(path)?;
        let mut bytes = vec![0; tar::BLOCK];
        if file.read_exact(&mut bytes).is_err() || !tar::is_tar(&bytes) {
            return Ok(None);
        }
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ArchiveError::TooLarge);
        }
        Self::read(&bytes).map(Some)
    }

    /// Reads an archive from its bytes.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn read(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let wrong = |part: &str, problem: &str| ArchiveError::Part {
            part: part.to_owned(),
            problem: problem.to_owned(),
        };
        let (mut files, mut remote) = (BTreeMap::new(), BTreeMap::new());
        let (mut metadata, mut data) = (None, None);
        for entry in tar::entries(bytes) {
            let Entry { path, kind, content } = entry?;
            if kind != Kind::File {
                // A hard link is the entry, which the description names.
                continue;
            }
            match path.split_once('/') {
                None if path == METADATA => metadata = Some(content),
                None if path == DATA => data = Some(content),
                Some(("file", rest)) => {
                    let path = Specifier::of_file(Path::new(&format!("/{rest}")));
                    let path = path.and_then(|specifier| specifier.to_path());
                    files.insert(path.ok_or_else(|| wrong(rest, "is no path"))?, Arc::from(content));
                }
                Some(("https", rest)) => {
                    let module = Specifier::parse(&format!("https://{rest}"));
                    let module = module.ok_or_else(|| wrong(&path, "is no module"))?;
                    remote.insert(module, text_of(&path, content)?);
                }
                _ => return Err(wrong(&path, "has no known place")),
            }
        }
        let metadata = metadata.ok_or_else(|| wrong(METADATA, "is missing"))?;
        let metadata: Value = serde_json::from_slice(metadata)
            .map_err(|error| wrong(METADATA, &format!("is not JSON: {error}")))?;
        if metadata["type"] != "js" {
            return Err(wrong(METADATA, "has another type than js"));
        }
        let entry = metadata["filename"].as_str().and_then(Specifier::parse);
        let options = metadata["options"].as_object().into_iter().flatten();
        let env = metadata["env"].as_object().into_iter().flatten();
        Ok(Self {
            entry: entry.ok_or_else(|| wrong(METADATA, "has no filename"))?,
            entry_text: text_of(DATA, data.ok_or_else(|| wrong(DATA, "is missing"))?)?,
            files,
            remote,
            options: options
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .filter(|(_, value)| !value.is_null())
                .collect(),
            env: env
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
        })
    }

    /// The module that the test begins with, and its text.
    pub(super) fn entry(&self) -> (Specifier, String) {
        (self.entry.clone(), self.entry_text.clone())
    }

    /// The text of a module.
    pub(super) fn module(&self, module: &Specifier) -> Result<String, FileError> {
        if let Some(text) = self.remote.get(module) {
            return Ok(text.clone());
        }
        let path = module.to_path().unwrap_or_else(|| module.as_str().into());
        file::text_of(&path, self.file(&path)?.to_vec())
    }

    /// What `open(path)` gives in the module `base`.
    pub(crate) fn open(&self, base: &Specifier, path: &str) -> Result<Arc<[u8]>, OpenError> {
        let target = file::opened_path(base, path)?;
        self.file(&target).map_err(|cause| OpenError::File {
            path: path.to_owned(),
            cause,
        })
    }

    fn file(&self, path: &Path) -> Result<Arc<[u8]>, FileError> {
        let found = self.files.get(path).map(Arc::clone);
        found.ok_or_else(|| FileError::NotArchived {
            path: path.to_owned(),
        })
    }
}

/// Makes an archive: the sources of a script, the files that it `opened` (by module and path as written), its options
/// and `__ENV`.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write(
    sources: &[(Specifier, Arc<str>)],
    opened: &[(Specifier, String, Arc<[u8]>)],
    (options, env): (&Value, &BTreeMap<String, String>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some((entry, text)) = sources.first() else {
        return Err(io::Error::other("the script has no source"));
    };
    let place = |module: &Specifier| module.as_str().replacen(":///", "/", 1).replacen("://", "/", 1);
    let path_place = |path: &Path| format!("file{}", path.display());
    let mut files: BTreeMap<String, &[u8]> = BTreeMap::new();
    for (module, text) in &sources[1..] {
        let name = module
            .to_path()
            .map_or_else(|| place(module), |path| path_place(&path));
        files.insert(name, text.as_bytes());
    }
    for (module, path, content) in opened {
        if let Ok(target) = file::opened_path(module, path) {
            files.insert(path_place(&target), content);
        }
    }
    let entry_place = entry
        .to_path()
        .map_or_else(|| place(entry), |path| path_place(&path));
    files.remove(&entry_place);
    let folder = entry.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    let metadata = json!({
        "type": "js",
        "options": options,
        "filename": entry.as_str(),
        "pwd": folder,
        "env": env,
        "compatibilityMode": "extended",
        "k6version": K6_VERSION,
        "goos": std::env::consts::OS,
        "dependencies": { "k6": "*" },
        "plimsollVersion": env!("CARGO_PKG_VERSION"),
    });
    let mut tar = tar::Writer::new(out);
    tar.file(METADATA, format!("{metadata:#}").as_bytes())?;
    tar.file(DATA, text.as_bytes())?;
    let names = files.keys().chain([&entry_place]);
    let folders: BTreeSet<&str> = names
        .flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at]))
        .collect();
    for folder in folders {
        tar.folder(folder)?;
    }
    tar.hard_link(&entry_place, DATA)?;
    for (name, content) in files {
        tar.file(&name, content)?;
    }
    tar.finish()
}

fn text_of(part: &str, bytes: &[u8]) -> Result<String, ArchiveError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ArchiveError::Part {
        part: part.to_owned(),
        problem: "is not UTF-8".to_owned(),
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}

/// A value of the options. k6 writes options that are not set as null, also within objects.
fn without_nulls(value: &Value) -> Value {
    let Value::Object(fields) = value else {
        return value.clone();
    };
    let set: Map<_, _> = fields
        .iter()
        .map(|(name, value)| (name.clone(), without_nulls(value)))
        .filter(|(_, value)| !value.is_null())
        .collect();
    if set.is_empty() && !fields.is_empty() {
        Value::Null
    } else {
        set.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specifier(path: &str) -> Specifier {
        Specifier::parse(path).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let long = format!(
            "/{}/{}.js",
            "folder/".repeat(30).trim_end_matches('/'),
            "n".repeat(120)
        );
        let sources: Vec<(Specifier, Arc<str>)> = vec![
            (specifier("file:///home/me/a.js"), "entry".into()),
            (specifier("file:///home/me/lib/b c.js"), "ü".into()),
            (Specifier::of_file(Path::new(&long)).unwrap(), "long".into()),
            (specifier("https://a.test/x/1.0/index.js"), "remote".into()),
        ];
        let opened = [(
            specifier("file:///home/me/lib/b c.js"),
            "../data.bin".to_owned(),
            Arc::from(&[0, 255][..]),
        )];
        let env = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
        let options = json!({ "vus": 2, "dns": { "ttl": null }, "duration": null });
        let mut bytes = Vec::new();
        write(&sources, &opened, (&options, &env), &mut bytes).unwrap();
        let archive = Archive::read(&bytes).unwrap();
        assert_eq!(
            archive.entry(),
            (specifier("file:///home/me/a.js"), "entry".to_owned())
        );
        assert_eq!(Value::Object(archive.options.clone()), json!({ "vus": 2 }));
        assert_eq!(archive.env, env);
        for (module, text) in &sources[1..] {
            assert_eq!(archive.module(module).unwrap(), **text, "{module}");
        }
        let content = archive
            .open(&specifier("file:///home/me/a.js"), "./data.bin")
            .unwrap();
        assert_eq!(*content, [0, 255]);
        let missing = archive
            .open(&specifier("file:///home/me/a.js"), "none.csv")
            .unwrap_err();
        assert!(missing.to_string().contains("is not in the archive"), "{missing}");
    }

    #[test]
    fn broken_archives_are_refused() {
        let check = |bytes: &[u8], words: &str| {
            let error = Archive::read(bytes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        let archive = |files: &[(&str, &str)]| {
            let mut bytes = Vec::new();
            let mut tar = tar::Writer::new(&mut bytes);
            files
                .iter()
                .for_each(|(name, text)| tar.file(name, text.as_bytes()).unwrap());
            tar.finish().unwrap();
            bytes
        };
        check(&archive(&[]), "metadata.json is missing");
        check(&archive(&[("metadata.json", "{")]), "metadata.json is not JSON");
        check(&archive(&[("metadata.json", "{}")]), "another type than js");
        check(
            &archive(&[("metadata.json", "{\"type\":\"js\"}")]),
            "has no filename",
        );
        check(
            &archive(&[("metadata.json", "{\"type\":\"js\",\"filename\":\"file:///a\"}")]),
            "data is missing",
        );
        check(&archive(&[("etc/passwd", "")]), "etc/passwd has no known place");
        let whole = archive(&[("metadata.json", "{}")]);
        check(&whole[..513], "ends within");
        let mut damaged = whole;
        damaged[0] ^= 1;
        check(&damaged, "checksum");
    }
}
