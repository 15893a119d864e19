//! Why the text of an import means nothing here, and what to write instead.

/// Why an import cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// It begins with `k6`, and neither k6 nor this program has such a module.
    #[error("there is no module {written:?}{hint}")]
    UnknownBuiltin {
        /// As it stands in the source.
        written: String,
        /// What was meant, or what there is.
        hint: String,
    },
    /// k6 has it, and this program has not.
    #[error("k6's module {written:?} is not supported; {instead}")]
    Unsupported {
        /// As it stands in the source.
        written: String,
        /// What to use instead.
        instead: String,
    },
    /// Node has it.
    #[error("Node's module `{name}` is not available; {instead}")]
    Node {
        /// Its name.
        name: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A module of Node that cannot work in this program.
    #[error("Node's module `{name}` does not exist here; available are {available}")]
    AbsentOfNode {
        /// Its name.
        name: String,
        /// Those that do.
        available: String,
    },
    /// There is no such package in any `node_modules` above the file.
    #[error("there is no package `{name}` in {folder} or above; install it there with npm install {name}")]
    Package {
        /// Its name.
        name: String,
        /// The folder of the module.
        folder: String,
    },
    /// A package has the file, and does not offer it.
    #[error("the package `{name}` does not export {written:?} (\"exports\" in {manifest})")]
    NotExported {
        /// Its name.
        name: String,
        /// As it stands in the source.
        written: String,
        /// The path of its `package.json`.
        manifest: String,
    },
    /// A `package.json` that cannot be read.
    #[error("cannot read {manifest}: {reason}")]
    Manifest {
        /// Its path.
        manifest: String,
        /// What is wrong.
        reason: String,
    },
    /// Machine code for Node.
    #[error("{written:?} is machine code for Node (a native addon), which cannot run here")]
    NativeAddon {
        /// As it stands in the source.
        written: String,
    },
    /// Neither a path nor a URL.
    #[error(
        "{written:?} is neither a path nor a URL, and packages (node_modules) are not supported; write a file as \
         \"./lib/users.js\", and bundle a package into one file first, for example with esbuild"
    )]
    Bare {
        /// As it stands in the source.
        written: String,
    },
    /// Fetched code has the rights of the script, so its connection must be safe from tampering.
    #[error("{written:?} is not fetched without TLS; write https:// instead of http://")]
    Http {
        /// As it stands in the source.
        written: String,
    },
    /// Some other scheme.
    #[error("{written:?} cannot be fetched; expected a URL that begins with https:// or file://")]
    Scheme {
        /// As it stands in the source.
        written: String,
    },
    /// It looks like a URL.
    #[error(
        "{written:?} is not a valid URL ({reason}); an example is \"https://jslib.k6.io/k6-utils/1.6.0/index.js\""
    )]
    Url {
        /// As it stands in the source, without user and password.
        written: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A fetched module has no business with files of this machine.
    #[error("{written:?} is a file, but a fetched module may only import other fetched modules")]
    FileFromRemote {
        /// As it stands in the source.
        written: String,
    },
    /// Data.
    #[error("{written:?} is data, not a module; read it with JSON.parse(open({written:?}))")]
    Json {
        /// As it stands in the source.
        written: String,
    },
}
