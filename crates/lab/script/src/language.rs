//! How much of JavaScript the runtimes of a script have.
//!
//! Some classes take kilobytes of every virtual user, and few scripts touch them: those of bytes (ArrayBuffers, their views,
//! Atomics), of collections (Map, Set, weak references) and Date. A script that can neither name them nor get an object of
//! theirs runs without them. Whether it can is decided by its text, before the first runtime is made, and in doubt it has
//! them: it cannot tell the difference.

use std::ptr::NonNull;

use rquickjs::{
    Context, Result, Runtime,
    context::{Intrinsic, intrinsic},
    qjs,
};

use crate::source_module::SourceModule;

/// The parts of the language beside the syntax: for each of [`PARTS`], whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Language([bool; PARTS.len()]);

/// What every script has. `DOMException` (5 KB) is not part of the language, and k6 does not have it.
type Core = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::Promise,
    intrinsic::Performance,
);

/// Classes that a script may do without.
struct Part {
    /// Their names.
    names: &'static [&'static str],
    /// Other words of scripts that get objects of theirs.
    words: &'static [&'static str],
    /// A part of such words, in lower case, as of `sendBinary`. Empty: there is none.
    part_of_words: &'static str,
    /// Modules of the host that use them or give objects of theirs.
    modules: &'static [&'static str],
    add: unsafe fn(NonNull<qjs::JSContext>),
}

/// `bytes`, `collections` and `dates`: 14, 6 and 2 KB.
const PARTS: [Part; 3] = [
    Part {
        names: &[
            "ArrayBuffer",
            "Atomics",
            "BigInt64Array",
            "BigUint64Array",
            "DataView",
            "Float16Array",
            "Float32Array",
            "Float64Array",
            "Int16Array",
            "Int32Array",
            "Int8Array",
            "SharedArrayBuffer",
            "Uint16Array",
            "Uint32Array",
            "Uint8Array",
            "Uint8ClampedArray",
        ],
        // `open(path, "b")`, the answers of `k6/http` and of `crypto.subtle`, modules by names that are not literals.
        words: &["TextEncoder", "open", "require", "responseType", "subtle"],
        part_of_words: "binary",
        modules: &[
            "k6/crypto",
            "k6/encoding",
            "k6/experimental/fs",
            "k6/experimental/websockets",
            "k6/websockets",
        ],
        add: <intrinsic::TypedArrays as Intrinsic>::add_intrinsic,
    },
    Part {
        names: &[
            "FinalizationRegistry",
            "Map",
            "Set",
            "WeakMap",
            "WeakRef",
            "WeakSet",
        ],
        words: &["require"],
        part_of_words: "",
        modules: &["k6/experimental/streams"],
        add: <(intrinsic::MapSet, intrinsic::WeakRef) as Intrinsic>::add_intrinsic,
    },
    Part {
        names: &["Date"],
        words: &[],
        part_of_words: "",
        modules: &[],
        add: <intrinsic::Date as Intrinsic>::add_intrinsic,
    },
];

/// Words that lead to all globals, by names that may be put together while the script runs.
const ALL_GLOBALS: [&str; 5] = ["Function", "constructor", "eval", "global", "globalThis"];

impl Language {
    /// Everything.
    pub(crate) const WHOLE: Self = Self([true; PARTS.len()]);

    /// The language that a script of these modules needs.
    pub(crate) fn of<'a>(modules: impl Iterator<Item = &'a SourceModule>) -> Self {
        let mut has = [false; PARTS.len()];
        for module in modules {
            if may_reach_all_globals(module) {
                return Self::WHOLE;
            }
            for (has, part) in has.iter_mut().zip(&PARTS) {
                *has |= part.may_be_needed(module);
            }
        }
        Self(has)
    }

    /// A context with it.
    pub(crate) fn context(self, runtime: &Runtime) -> Result<Context> {
        let context = Context::custom::<Core>(runtime)?;
        context.with(|ctx| {
            for (part, _) in PARTS.iter().zip(self.0).filter(|(_, has)| *has) {
                #[expect(
                    unsafe_code,
                    reason = "rquickjs chooses the parts of a context by types, here data do"
                )]
                // SAFETY: the context is alive and in use by this thread alone, and has none of these classes yet.
                unsafe {
                    (part.add)(ctx.as_raw());
                }
            }
        });
        Ok(context)
    }
}

/// Whether a script of this module can ask for globals by names that its text does not have.
pub(crate) fn may_reach_all_globals(module: &SourceModule) -> bool {
    // In functions of CommonJS modules `this` is the global object.
    module.is_common_js
        || is_escaped(&module.text)
        || words(&module.text).any(|word| ALL_GLOBALS.contains(&word))
}

impl Part {
    /// Whether a script of this module, which cannot reach all globals, may need these classes.
    fn may_be_needed(&self, module: &SourceModule) -> bool {
        let is_telling = |word: &str| self.names.contains(&word) || self.words.contains(&word);
        module
            .imports
            .values()
            .any(|id| self.modules.contains(&id.as_str()))
            || words(&module.text).any(|word| is_telling(word) || self.has_part_of(word))
    }

    fn has_part_of(&self, word: &str) -> bool {
        !self.part_of_words.is_empty() && word.to_ascii_lowercase().contains(self.part_of_words)
    }
}

/// Whether letters are written by their numbers, as in `\u0041rrayBuffer`.
fn is_escaped(text: &str) -> bool {
    text.contains("\\u") || text.contains("\\x")
}

/// All words of a source: names, and similar words in texts and comments.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Language = Language([false; PARTS.len()]);
    const BYTES: Language = Language([true, false, false]);
    const COLLECTIONS: Language = Language([false, true, false]);
    const DATES: Language = Language([false, false, true]);

    #[track_caller]
    fn check(text: &str, expected: Language) {
        assert_eq!(
            Language::of([&SourceModule::of_text(text)].into_iter()),
            expected,
            "{text}"
        );
    }

    #[test]
    fn scripts_have_the_classes_that_they_may_need() {
        for text in [
            "globalThis[name]",
            "for (const name in global) {}",
            "f.constructor('return 1')",
            "\\u0041rrayBuffer",
            "'\\x41rrayBuffer'",
        ] {
            check(text, Language::WHOLE);
        }
        for text in [
            "new Uint8Array(2)",
            "x instanceof ArrayBuffer",
            "// Float64Array",
            "http.get(url, { responseType })",
            "socket.on('binaryMessage', f)",
            "socket.sendBinary(x)",
            "open('x', mode)",
            "new TextEncoder()",
            "crypto.subtle.exportKey('raw', key)",
        ] {
            check(text, BYTES);
        }
        for text in [
            "new Map()",
            "x instanceof WeakSet",
            "Set.prototype",
            "new WeakRef(x)",
        ] {
            check(text, COLLECTIONS);
        }
        for text in ["Date.now()", "new Date"] {
            check(text, DATES);
        }
        for text in [
            "new Array(2), new SharedArray('x', f)",
            "clearInterval(evaluate(opened, globally))",
            "'\\n', /\\d/",
            "list.map(f), object.set(x), dated(DateTime)",
        ] {
            check(text, NOTHING);
        }
    }

    #[test]
    fn modules_by_names_that_are_not_literals_may_be_any() {
        check("require(name)", Language([true, true, false]));
    }

    #[test]
    fn kinds_of_modules_and_their_imports_tell_too() {
        let common_js = SourceModule {
            is_common_js: true,
            ..SourceModule::of_text("")
        };
        let importing = |id: &str| SourceModule {
            imports: [("x".to_owned(), id.to_owned())].into(),
            ..SourceModule::of_text("")
        };
        for (module, expected) in [
            (common_js, Language::WHOLE),
            (importing("k6/encoding"), BYTES),
            (importing("k6/experimental/streams"), COLLECTIONS),
            (importing("k6/http"), NOTHING),
        ] {
            assert_eq!(Language::of([module].iter()), expected);
        }
    }

    #[test]
    fn what_several_modules_need_adds_up() {
        let modules = ["new Uint8Array(2)", "Date.now()"].map(SourceModule::of_text);
        assert_eq!(Language::of(modules.iter()), Language([true, false, true]));
    }

    #[test]
    fn languages_are_the_same_but_for_their_parts() {
        let globals = |language: Language| {
            let runtime = Runtime::new().unwrap();
            let context = language.context(&runtime).unwrap();
            let mut names = context
                .with(|ctx| -> Vec<String> { ctx.eval("Object.getOwnPropertyNames(globalThis)").unwrap() });
            names.sort();
            names
        };
        let whole = globals(Language::WHOLE);
        for (part, without) in [[false, true, true], [true, false, true], [true, true, false]]
            .into_iter()
            .enumerate()
        {
            let mut expected = whole.clone();
            expected.retain(|name| !PARTS[part].names.contains(&name.as_str()));
            assert_eq!(expected.len(), whole.len() - PARTS[part].names.len());
            assert_eq!(globals(Language(without)), expected);
        }
    }
}
