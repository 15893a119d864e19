//! Services and messages, from `.proto` files or from sets of descriptors.

use std::{cell::RefCell, collections::BTreeMap, path::PathBuf, rc::Rc, sync::Arc};

use prost::Message as _;
use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::{
    Compiler,
    file::{ChainFileResolver, File, FileResolver, GoogleFileResolver},
};

/// The source of definitions; equal sources give equal definitions, which all virtual users share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// `.proto` files, searched for in folders.
    Files {
        /// The folders; empty for that of the script.
        folders: Vec<String>,
        /// The files, relative to one of the folders.
        files: Vec<String>,
    },
    /// A file with a `FileDescriptorSet`.
    Set(String),
}

/// Loaded definitions.
#[derive(Debug)]
pub(crate) struct Definitions {
    pool: DescriptorPool,
    /// By `/package.Service/Method`.
    methods: BTreeMap<String, MethodDescriptor>,
}

/// Reads a file by its path; fails with a text for people.
pub(super) type Open = Rc<dyn Fn(&str) -> Result<Arc<[u8]>, String>>;

impl Definitions {
    /// Loads definitions; `open` reads files relative to the script.
    ///
    /// # Errors
    /// For people: a file is missing or wrong.
    pub(crate) fn load(
        source: &Source,
        open: impl Fn(&str) -> Result<Arc<[u8]>, String> + 'static,
    ) -> Result<Self, String> {
        match source {
            Source::Files { folders, files } => compile(folders, files, Rc::new(open)),
            Source::Set(path) => {
                let bytes = open(path).map_err(|error| format!("couldn't open protoset: {error}"))?;
                let set = FileDescriptorSet::decode(&*bytes);
                let set = set.map_err(|error| {
                    format!(
                        "couldn't unmarshal protoset file {path}: {error}; expected the output of `protoc -o`"
                    )
                })?;
                Self::of_files(set.file)
            }
        }
    }

    /// Takes descriptors of files, in any order.
    ///
    /// # Errors
    /// For people: the descriptors do not fit together.
    pub(crate) fn of_files(files: Vec<FileDescriptorProto>) -> Result<Self, String> {
        let mut pool = DescriptorPool::new();
        let added = pool.add_file_descriptor_protos(files);
        added.map_err(|error| error.to_string())?;
        Ok(Self::of_pool(pool))
    }

    fn of_pool(pool: DescriptorPool) -> Self {
        let services: Vec<_> = pool.services().collect();
        let methods = services.iter().flat_map(|service| {
            let path = |method: &MethodDescriptor| format!("/{}/{}", service.full_name(), method.name());
            service.methods().map(move |method| (path(&method), method))
        });
        let methods = methods.collect();
        Self { pool, methods }
    }

    /// The method `/package.Service/Method`.
    pub(crate) fn method(&self, path: &str) -> Option<&MethodDescriptor> {
        self.methods.get(path)
    }

    /// All methods with their paths, service by service.
    pub(crate) fn methods(&self) -> impl Iterator<Item = (String, MethodDescriptor)> + '_ {
        self.pool.services().flat_map(|service| {
            let name = service.full_name().to_owned();
            let methods: Vec<_> = service.methods().collect();
            methods
                .into_iter()
                .map(move |method| (format!("/{name}/{}", method.name()), method))
        })
    }

    /// All definitions together.
    #[cfg(test)]
    pub(super) fn pool(&self) -> &DescriptorPool {
        &self.pool
    }

    /// The message of this full name.
    pub(super) fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pool.get_message_by_name(name)
    }
}

/// Compiles files with what they import.
fn compile(folders: &[String], files: &[String], open: Open) -> Result<Definitions, String> {
    let missing = Rc::default();
    let own = Folders {
        folders: folders.to_vec(),
        open,
        missing: Rc::clone(&missing),
    };
    let mut resolver = ChainFileResolver::new();
    resolver.add(own);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    for file in files {
        compiler.open_file(file).map_err(|error| {
            let missing = missing.borrow_mut().take();
            match missing.filter(|_| error.is_file_not_found()) {
                Some(missing) => format!("{error}: {missing}"),
                // With the place.
                None => format!("{error:?}"),
            }
        })?;
    }
    Ok(Definitions::of_pool(compiler.descriptor_pool()))
}

/// Looks for files in the folders of a script.
struct Folders {
    folders: Vec<String>,
    open: Open,
    /// Why the last file was not found.
    missing: Rc<RefCell<Option<String>>>,
}

impl FileResolver for Folders {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let own_folder = [String::new()];
        let folders = if self.folders.is_empty() {
            &own_folder
        } else {
            &*self.folders
        };
        for folder in folders {
            let folder = folder.strip_prefix("file://").unwrap_or(folder);
            let path = PathBuf::from(folder).join(name);
            match (self.open)(&path.to_string_lossy()) {
                Ok(bytes) => {
                    let text = str::from_utf8(&bytes).map_err(protox::Error::new)?;
                    return File::from_source(name, text);
                }
                Err(error) => drop(self.missing.replace(Some(error))),
            }
        }
        Err(protox::Error::file_not_found(name))
    }
}
