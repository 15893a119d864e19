//! One module of a script: its text, and what it imports.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::source::{ImportedName, Resolved, Source, SourceKind};

/// One file of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceModule {
    /// What is compiled.
    pub text: Arc<str>,
    /// What people wrote.
    pub original: Arc<str>,
    /// Whether it is a CommonJS module.
    pub is_common_js: bool,
    /// What its imports stand for, by the text between the quotes; that of a `require` by [`of_require`].
    pub imports: HashMap<String, String>,
    /// What it names of them.
    pub(crate) named: Vec<Named>,
    /// The modules whose exports it gets as one object.
    pub(crate) namespaces: Namespaces,
}

/// The modules of which a module gets all exports, whether it names them or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// Its imports were not read: these may be all modules.
    Unknown,
    /// Those of this name.
    Of(HashSet<String>),
}

/// The key of what `require` stands for: a package may have another file for it than for `import`.
pub(crate) fn of_require(written: &str) -> String {
    format!("require:{written}")
}

/// Something that a script names of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name of the module.
    pub(crate) module: String,
    /// What of it, and where.
    pub(crate) name: ImportedName,
}

impl SourceModule {
    /// An ES module with this text, whose imports were not read.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Self {
        Self {
            text: text.into(),
            original: text.into(),
            is_common_js: false,
            imports: HashMap::new(),
            named: Vec::new(),
            namespaces: Namespaces::Unknown,
        }
    }

    pub(crate) fn of(source: Source) -> Self {
        let (mut imports, mut named, mut namespaces) = (HashMap::new(), Vec::new(), HashSet::new());
        for import in source.imports {
            let module = match import.resolved {
                Resolved::Builtin(id) => id,
                Resolved::Module(specifier) => specifier.as_str().to_owned(),
            };
            let of_module = |name| Named {
                module: module.clone(),
                name,
            };
            if import.is_namespace {
                namespaces.insert(module.clone());
            }
            named.extend(import.names.into_iter().map(of_module));
            let written = if import.is_require {
                of_require(&import.written)
            } else {
                import.written
            };
            imports.insert(written, module);
        }
        Self {
            imports,
            named,
            namespaces: Namespaces::Of(namespaces),
            text: source.text,
            original: source.original,
            is_common_js: source.kind == SourceKind::CommonJs,
        }
    }
}
