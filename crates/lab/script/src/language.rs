//! How much of JavaScript the runtimes of a script have.
//!
//! The classes of bytes (ArrayBuffers, their views, Atomics) take 20 KB of every virtual user, an eighth of all, and few
//! scripts touch them. A script that can neither name them nor get an object of theirs runs without them. Whether it can
//! is decided by its text, before the first runtime is made, and in doubt it has them: it cannot tell the difference.

use rquickjs::{Context, Result, Runtime, context::intrinsic};

use crate::source_module::SourceModule;

/// The parts of the language beside the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Everything.
    Whole,
    /// Everything but the classes of bytes.
    WithoutBytes,
}

/// All parts of the engine except `DOMException` (5 KB), which is not part of the language and which k6 does not
/// have.
type WithoutBytes = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::Promise,
    intrinsic::Performance,
    intrinsic::WeakRef,
);

type Whole = (WithoutBytes, intrinsic::TypedArrays);

/// Modules of the host that give bytes without being asked for `binary` ones.
const BYTES_FROM: [&str; 5] = [
    "k6/crypto",
    "k6/encoding",
    "k6/experimental/fs",
    "k6/experimental/websockets",
    "k6/websockets",
];

/// Words of scripts that need the classes of bytes, or may need them.
const WORDS: &[&str] = &[
    // The classes.
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
    // What leads to all globals, by names that may be put together while the script runs.
    "Function",
    "constructor",
    "eval",
    "global",
    "globalThis",
    // What gives bytes: `open(path, "b")`, the answers of `k6/http` and of `crypto.subtle`, other modules by names that
    // are not literals.
    "TextEncoder",
    "open",
    "require",
    "responseType",
    "subtle",
];

impl Language {
    /// The language that a script of these modules needs.
    pub(crate) fn of<'a>(mut modules: impl Iterator<Item = &'a SourceModule>) -> Self {
        if modules.any(may_need_bytes) {
            Self::Whole
        } else {
            Self::WithoutBytes
        }
    }

    /// A context with it.
    pub(crate) fn context(self, runtime: &Runtime) -> Result<Context> {
        match self {
            Self::Whole => Context::custom::<Whole>(runtime),
            Self::WithoutBytes => Context::custom::<WithoutBytes>(runtime),
        }
    }
}

fn may_need_bytes(module: &SourceModule) -> bool {
    // In functions of CommonJS modules `this` is the global object.
    module.is_common_js
        || module
            .imports
            .values()
            .any(|id| BYTES_FROM.contains(&id.as_str()))
        || is_escaped(&module.text)
        || words(&module.text)
            .any(|word| WORDS.contains(&word) || word.to_ascii_lowercase().contains("binary"))
}

/// Whether letters are written by their numbers, as in `\u0041rrayBuffer`.
fn is_escaped(text: &str) -> bool {
    text.contains("\\u") || text.contains("\\x")
}

/// All words of a source: names, and similar words in texts and comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn module(text: &str) -> SourceModule {
        SourceModule {
            text: text.into(),
            original: text.into(),
            is_common_js: false,
            imports: HashMap::new(),
            named: Vec::new(),
        }
    }

    #[test]
    fn scripts_have_the_classes_of_bytes_when_they_may_need_them() {
        let check = |text: &str, expected| {
            assert_eq!(Language::of([&module(text)].into_iter()), expected, "{text}");
        };
        for text in [
            "new Uint8Array(2)",
            "x instanceof ArrayBuffer",
            "// Float64Array",
            "globalThis[name]",
            "for (const name in global) {}",
            "f.constructor('return 1')",
            "http.get(url, { responseType })",
            "socket.on('binaryMessage', f)",
            "socket.sendBinary(x)",
            "open('x', mode)",
            "new TextEncoder()",
            "crypto.subtle.exportKey('raw', key)",
            "\\u0041rrayBuffer",
            "'\\x41rrayBuffer'",
        ] {
            check(text, Language::Whole);
        }
        for text in [
            "new Array(2), new SharedArray('x', f)",
            "clearInterval(evaluate(opened, globally))",
            "'\\n', /\\d/",
        ] {
            check(text, Language::WithoutBytes);
        }
        let common_js = SourceModule {
            is_common_js: true,
            ..module("")
        };
        let importing = |id: &str| SourceModule {
            imports: [("x".to_owned(), id.to_owned())].into(),
            ..module("")
        };
        let of = |module: SourceModule| Language::of([module].iter());
        assert_eq!(of(common_js), Language::Whole);
        assert_eq!(of(importing("k6/encoding")), Language::Whole);
        assert_eq!(of(importing("k6/http")), Language::WithoutBytes);
    }

    #[test]
    fn both_languages_are_the_same_but_for_the_classes_of_bytes() {
        let globals = |language: Language| {
            let runtime = Runtime::new().unwrap();
            let context = language.context(&runtime).unwrap();
            let mut names = context
                .with(|ctx| -> Vec<String> { ctx.eval("Object.getOwnPropertyNames(globalThis)").unwrap() });
            names.sort();
            names
        };
        let mut whole = globals(Language::Whole);
        let (bytes, _) = WORDS.split_at(16);
        whole.retain(|name| !bytes.contains(&name.as_str()));
        assert_eq!(whole, globals(Language::WithoutBytes));
    }
}
