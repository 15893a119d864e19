//! The globals of the host that a script can reach. Others are not made: each would take memory of every virtual user.
//!
//! The texts of all modules decide, as for the parts of the language: a global is reachable if its name is a word of any of
//! them. If a script may reach the global object itself, or code that is made from text, all are reachable.

use std::collections::BTreeSet;

use crate::{language, source_module::SourceModule};

/// The names that the host offers and a script may lack.
const OFFERED: &[&str] = &[
    "TextDecoder",
    "TextEncoder",
    "URL",
    "URLSearchParams",
    "__ENV",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "open",
    "require",
    "setInterval",
    "setTimeout",
];

/// The reachable globals.
#[derive(Debug)]
pub(crate) enum Reachable {
    /// All that the host offers.
    All,
    /// These.
    Named(BTreeSet<&'static str>),
}

impl Reachable {
    /// The globals that a script of these modules can reach.
    pub(crate) fn of<'a>(modules: impl Iterator<Item = &'a SourceModule>) -> Self {
        let mut named = BTreeSet::new();
        for module in modules {
            if language::may_reach_all_globals(module) {
                return Self::All;
            }
            for word in language::words(&module.text) {
                // The module `k6/experimental/webcrypto` exports the global.
                let word = if word == "webcrypto" { "crypto" } else { word };
                if let Ok(index) = OFFERED.binary_search(&word) {
                    named.insert(OFFERED[index]);
                }
            }
        }
        Self::Named(named)
    }

    /// Whether a script can reach the global of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(named) => named.contains(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globals_exist_when_a_script_may_reach_them() {
        let check = |text: &str, expected: &[&str]| {
            let reachable =
                Reachable::of([&SourceModule::of_text(""), &SourceModule::of_text(text)].into_iter());
            let found: Vec<_> = OFFERED
                .iter()
                .copied()
                .filter(|name| reachable.has(name))
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("export default () => {};", &[]);
        check("console.log(`${__ENV.X}`)", &["__ENV", "console"]);
        check("typeof URL", &["URL"]);
        check("import x from 'k6/experimental/webcrypto';", &["crypto"]);
        check("new URLSearchParams(), opened, setTimeouts", &["URLSearchParams"]);
        check("// open", &["open"]);
        for text in [
            "globalThis[name]",
            "global.x",
            "(0, eval)('1')",
            "new Function('')",
            "f.constructor('')",
            "'\\x65val'",
        ] {
            check(text, OFFERED);
        }
    }

    #[test]
    fn common_js_reaches_all_globals() {
        let common_js = SourceModule {
            is_common_js: true,
            ..SourceModule::of_text("")
        };
        assert!(Reachable::of([&common_js].into_iter()).has("URL"));
    }

    #[test]
    fn names_are_in_order_for_the_search() {
        assert!(OFFERED.is_sorted());
    }
}
