//! The parser, and the stack that it needs.

use std::{io, thread};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

use super::{super::Problem, SourceKind, top_level_await};

/// Stack for one byte of a source. The parser is recursive, and in the worst case every byte is one level deeper:
/// 20,000 opening brackets take less than 100 MB without optimizations, and a fraction with them.
const STACK_PER_BYTE: usize = 5 * 1024;
/// The stack for all other code.
const MIN_STACK: usize = 1024 * 1024;
/// No source that people or bundlers write is 200,000 levels deep. It is address space; only what is used takes memory.
const MAX_STACK: usize = 1024 * 1024 * 1024;

/// What a source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    JavaScript,
    TypeScript,
}

/// A tree and what else the parser found.
pub(super) struct Parsed<'a>(ParserReturn<'a>);

/// Runs `parse` on a stack for a source of this many bytes.
pub(super) fn with_stack<T: Send>(n_bytes: usize, parse: impl FnOnce() -> T + Send) -> io::Result<T> {
    let size = n_bytes
        .saturating_mul(STACK_PER_BYTE)
        .saturating_add(MIN_STACK)
        .min(MAX_STACK);
    thread::scope(|scope| {
        let parser = thread::Builder::new()
            .name("parser".to_owned())
            .stack_size(size)
            .spawn_scoped(scope, parse)?;
        parser
            .join()
            .map_err(|_panic| io::Error::other("the parser met syntax that it does not know"))
    })
}

/// Parses `source` as a module or as a function's body.
pub(super) fn with_tree<T>(
    source: &str,
    language: Language,
    kind: SourceKind,
    read: impl FnOnce(&Parsed<'_>) -> T,
) -> T {
    let allocator = Allocator::default();
    let source_type = match kind {
        SourceKind::EsModule => SourceType::mjs(),
        SourceKind::CommonJs => SourceType::cjs(),
    };
    let source_type = source_type.with_typescript(language == Language::TypeScript);
    let options = ParseOptions {
        allow_return_outside_function: kind == SourceKind::CommonJs,
        ..ParseOptions::default()
    };
    let parser = Parser::new(&allocator, source, source_type).with_options(options);
    read(&Parsed(parser.parse()))
}

impl<'a> Parsed<'a> {
    pub(super) fn program(&self) -> &Program<'a> {
        &self.0.program
    }

    /// Whether this is a module by its syntax; what has mistakes is one if there are imports or exports before them.
    pub(super) fn is_module(&self) -> bool {
        self.0.module_record.has_module_syntax
            || (self.mistake().is_none() && top_level_await::awaits_outside_of_functions(self.program()))
    }

    /// The first mistake and its byte.
    pub(super) fn mistake(&self) -> Option<(Problem, usize)> {
        let first = self.0.diagnostics.errors().next()?;
        let label = first.labels.first();
        let hint = first.help.as_ref().map(|help| format!("; {help}"));
        let problem = Problem::Syntax {
            message: as_fragment(&first.message),
            hint: hint.unwrap_or_default(),
        };
        Some((problem, label.map_or(0, |label| label.offset() as usize)))
    }
}

/// With a small letter, because it goes on a sentence.
fn as_fragment(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}
