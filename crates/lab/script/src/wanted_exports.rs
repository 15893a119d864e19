//! The exports of the host's modules that a script can see. Each export takes memory of every virtual user, used or not.
//!
//! A script sees the exports that its imports name. Only an `import * as` or `export *` shows it all of them, and
//! `require` gives the object that has them.

use std::collections::{HashMap, HashSet};

use crate::source_module::{Namespaces, SourceModule};

/// What the modules of a script want of other modules.
#[derive(Debug)]
pub(crate) enum WantedExports {
    /// Everything of all.
    All,
    /// Some exports of some modules.
    Some(HashMap<String, Wanted>),
}

/// What all modules together want of one.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// All exports.
    All,
    /// The exports of these names.
    Named(HashSet<String>),
}

impl WantedExports {
    /// What these modules want.
    pub(crate) fn of<'a>(modules: impl Iterator<Item = &'a SourceModule>) -> Self {
        let mut wanted = HashMap::new();
        for module in modules {
            let Namespaces::Of(namespaces) = &module.namespaces else {
                return Self::All;
            };
            for named in module.named.iter().filter(|named| !named.name.is_property) {
                let of_module = wanted
                    .entry(named.module.clone())
                    .or_insert_with(|| Wanted::Named(HashSet::new()));
                if let Wanted::Named(names) = of_module {
                    names.insert(named.name.name.clone());
                }
            }
            for namespace in namespaces {
                wanted.insert(namespace.clone(), Wanted::All);
            }
        }
        Self::Some(wanted)
    }

    /// Whether a script can see this export of this module.
    pub(crate) fn has(&self, module: &str, name: &str) -> bool {
        let wanted = match self {
            Self::All => return true,
            Self::Some(wanted) => wanted.get(module),
        };
        match wanted {
            Some(Wanted::All) => true,
            Some(Wanted::Named(names)) => names.contains(name),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        modules,
        source::{self, Builtins, Entry},
    };

    fn wanted(text: &str) -> WantedExports {
        let present: Vec<_> = modules::ids().collect();
        let builtins = Builtins {
            present: &present,
            absent: modules::ABSENT,
            node: None,
        };
        let entry = Entry::Text {
            path: "/test/script.js".into(),
            text: text.to_owned(),
        };
        let sources = source::load_files(entry, builtins).unwrap();
        let modules: Vec<_> = sources.modules.into_iter().map(SourceModule::of).collect();
        WantedExports::of(modules.iter())
    }

    #[test]
    fn exports_are_wanted_when_a_script_can_see_them() {
        let check = |text: &str, expected: [bool; 2]| {
            let wanted = wanted(text);
            let found = ["get", "post"].map(|name| wanted.has("k6/http", name));
            assert_eq!(found, expected, "{text}");
        };
        check("import http from 'k6/http'; http.get('');", [false, false]);
        check("import 'k6/http'; export {};", [false, false]);
        check("import { get } from 'k6/http';", [true, false]);
        check("import http, { get as g } from 'k6/http';", [true, false]);
        check("export { get } from 'k6/http';", [true, false]);
        check(
            "import { get } from 'k6/http'; import { post } from 'k6/http';",
            [true, true],
        );
        check("import * as http from 'k6/http';", [true, true]);
        check("import http, * as all from 'k6/http';", [true, true]);
        check("export * from 'k6/http';", [true, true]);
        check(
            "export * as http from 'k6/http'; import { get } from 'k6/http';",
            [true, true],
        );
    }

    #[test]
    fn everything_is_wanted_of_modules_whose_imports_are_unknown() {
        let module = crate::tests::program("").modules.into_values().next().unwrap();
        assert!(WantedExports::of([&module].into_iter()).has("k6/http", "get"));
    }
}
