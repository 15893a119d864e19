//! Whether a script looks at its own `options`, which then have to show the options of all layers together.
//!
//! Reading these anew costs every virtual user time at its start, and few scripts look at what they have just written. As
//! with the language, the text decides, and in doubt a script sees them.

use std::collections::HashMap;

use crate::{
    language::{may_reach_all_globals, words},
    source_module::SourceModule,
};

/// Whether a script of these modules may look at the options that the module `entry` exports.
pub(crate) fn may_be_seen(modules: &HashMap<String, SourceModule>, entry: &str) -> bool {
    let n_words = |module: &SourceModule| words(&module.text).filter(|&word| word == "options").count();
    let are_only_exported = match modules.values().map(n_words).sum() {
        0 => true,
        1 => modules
            .get(entry)
            .is_some_and(|entry| exports_literal(&entry.text)),
        _ => false,
    };
    let may_lead_to_entry = |module: &SourceModule| {
        may_reach_all_globals(module)
            || module.imports.values().any(|id| id == entry)
            || has_dynamic_import(&module.text)
    };
    !are_only_exported || modules.values().any(may_lead_to_entry)
}

/// Whether the first `options` in the text is the name of an exported object that has no other name.
fn exports_literal(text: &str) -> bool {
    let Some((before, after)) = text.split_once("options") else {
        return false;
    };
    let mut before = before.split_ascii_whitespace().rev();
    let is_exported =
        matches!(before.next(), Some("const" | "let" | "var")) && before.next() == Some("export");
    let value = after.trim_start().strip_prefix('=');
    is_exported && value.is_some_and(|value| value.trim_start().starts_with('{'))
}

fn has_dynamic_import(text: &str) -> bool {
    let mut after = text.split("import").skip(1);
    after.any(|after| after.trim_start().starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let modules = [("entry".to_owned(), SourceModule::of_text(text))].into();
        assert_eq!(may_be_seen(&modules, "entry"), expected, "{text}");
    }

    #[test]
    fn options_that_are_only_exported_cannot_be_seen() {
        for text in [
            "export default function () {}",
            "export const options = { vus: 1 };",
            "export let options={\nvus: 1 };",
            "import http from 'k6/http'; export const options = {}; http.get(url, { my_options: 1 });",
        ] {
            check(text, false);
        }
        for text in [
            "export const options = { vus: 1 }; console.log(options.vus);",
            "const options = {}; export { options };",
            "const mine = {}; export { mine as options };",
            "export const options = mine;",
            "export const my_options = {}, options = {};",
            "export const options = {}; eval(name)",
            "export const options = {}; import ('./script.js')",
            "export const options = {}; \\u006fptions.vus",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn another_module_may_see_them() {
        let module = |text: &str, imports: &str| SourceModule {
            imports: [(imports.to_owned(), imports.to_owned())].into(),
            ..SourceModule::of_text(text)
        };
        let check = |other: SourceModule, expected: bool| {
            let entry = module("export const options = {};", "other");
            let modules = [("entry".to_owned(), entry), ("other".to_owned(), other)].into();
            assert_eq!(may_be_seen(&modules, "entry"), expected);
        };
        check(module("import * as other from 'third'", "third"), false);
        check(module("import * as script from 'entry'", "entry"), true);
        check(module("export const options = {};", "third"), true);
    }
}
