//! The names in a Rust file: what it defines, imports and uses.

use super::syntax::{Kind, Token, tokens, without_tests};

/// The names of one file, those in tests left out.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// What stands at the top level of the file: types, functions, constants and macros.
    pub(super) items: Vec<&'a str>,
    /// Child modules with a file of their own.
    pub(super) modules: Vec<&'a str>,
    pub(super) imports: Vec<Import<'a>>,
    /// Every other place where a name is used.
    pub(super) mentions: Vec<Mention<'a>>,
}

/// One name that a `use` brings in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import<'a> {
    /// All of it: `use a::{b, c as d};` is `a::b` and `a::c`. Ends with `*` for all names of a module.
    pub(super) path: Vec<&'a str>,
    /// How the file calls it.
    pub(super) name: &'a str,
    /// Whether others can use it from here.
    pub(super) is_exported: bool,
    pub(super) line: usize,
}

/// A name with what stands before it: `thread::spawn`, `.elapsed`, `println!`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention<'a> {
    pub(super) path: Vec<&'a str>,
    pub(super) form: Form,
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A type, a constant, a variable, a field, …
    Plain,
    /// Called: `f(…)`.
    Call,
    /// A method that is called: `.f(…)`.
    Method,
    /// A field: `.f`.
    Field,
    /// A macro: `f!`.
    Macro,
}

/// Keywords that begin an item with a name.
const ITEMS: [&str; 8] = [
    "const", "enum", "fn", "static", "struct", "trait", "type", "union",
];

impl<'a> Names<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
            depth: 0,
            names: Self::default(),
        };
        while reader.at < tokens.len() {
            reader.step();
        }
        reader.names
    }

    /// What the file calls `name`, if it imports it.
    pub(super) fn import(&self, name: &str) -> Option<&Import<'a>> {
        self.imports
            .iter()
            .find(|import| import.name == name && import.path.last() != Some(&"*"))
    }
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    /// How many braces are open.
    depth: usize,
    names: Names<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn text(&self, offset: usize) -> &'a str {
        self.tokens.get(self.at + offset).map_or("", |token| token.text)
    }

    fn is_word(&self, offset: usize) -> bool {
        self.tokens.get(self.at + offset).is_some_and(Token::is_word)
    }

    fn step(&mut self) {
        let token = self.tokens[self.at];
        if token.kind != Kind::Word {
            match token.text {
                "{" => self.depth += 1,
                "}" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            return;
        }
        let is_top = self.depth == 0;
        match token.text {
            // `use<'a>` is a bound.
            "use" if self.text(1) != "<" => self.import(),
            "mod" if is_top && self.text(2) == ";" => {
                self.names.modules.push(self.text(1));
                self.at += 2;
            }
            "macro_rules" if self.text(1) == "!" => {
                self.names.items.push(self.text(2));
                self.at += 3;
            }
            "enum" if self.is_word(1) => self.enumeration(is_top),
            word if ITEMS.contains(&word) && self.is_word(1) && !ITEMS.contains(&self.text(1)) => {
                self.item(is_top);
            }
            _ => self.mention(),
        }
    }

    fn item(&mut self, is_top: bool) {
        if is_top {
            self.names.items.push(self.text(1));
        }
        self.at += 2;
    }

    /// An enum; the names of its variants are no mentions of what else is called so.
    fn enumeration(&mut self, is_top: bool) {
        self.item(is_top);
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            let text = self.text(0);
            match text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let before = self.at.checked_sub(1).map_or("", |at| self.tokens[at].text);
            let is_variant = depth == 1 && matches!(before, "{" | "," | "]");
            if self.is_word(0) && !is_variant {
                self.mention();
            } else {
                self.at += 1;
            }
            if depth == 0 && matches!(text, "}" | ";") {
                return;
            }
        }
    }

    fn mention(&mut self) {
        let line = self.tokens[self.at].line;
        let is_member = self.at > 0
            && self.tokens[self.at - 1].text == "."
            // `..a` and `..=a` are ranges.
            && (self.at < 2 || self.tokens[self.at - 2].text != ".");
        let mut path = vec![self.text(0)];
        self.at += 1;
        while self.text(0) == "::" && self.is_word(1) && !is_member {
            path.push(self.text(1));
            self.at += 2;
        }
        let is_macro = self.text(0) == "!" && self.text(1) != "=";
        let form = match self.text(0) {
            "(" if is_member => Form::Method,
            _ if is_member => Form::Field,
            _ if is_macro => Form::Macro,
            "(" => Form::Call,
            _ => Form::Plain,
        };
        self.names.mentions.push(Mention { path, form, line });
    }

    fn import(&mut self) {
        let is_exported = self.at > 0 && {
            let before = &self.tokens[..self.at];
            let ends_visibility = before.last().is_some_and(|token| token.text == ")");
            let begin = before.iter().rposition(|token| token.text == "pub");
            before.last().is_some_and(|token| token.text == "pub")
                || ends_visibility && begin.is_some_and(|begin| self.at - begin <= MOST_OF_VISIBILITY)
        };
        self.at += 1;
        self.tree(&[], is_exported);
    }

    /// One branch of a `use`: `a::b`, `a::{…}`, `a::*`, `a as b`.
    fn tree(&mut self, stem: &[&'a str], is_exported: bool) {
        let mut path = stem.to_vec();
        while let Some(&token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.text {
                "{" => {
                    while !matches!(self.text(0), "}" | "") {
                        self.tree(&path, is_exported);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "::" => {}
                text => {
                    path.push(text);
                    if self.text(0) != "::" {
                        return self.end_of_branch(path, is_exported, token.line);
                    }
                }
            }
        }
    }

    fn end_of_branch(&mut self, mut path: Vec<&'a str>, is_exported: bool, line: usize) {
        if path.len() > 1 && path.last() == Some(&"self") {
            path.pop();
        }
        let mut name = path.last().copied().unwrap_or_default();
        if self.text(0) == "as" {
            name = self.text(1);
            self.at += 2;
        }
        self.names.imports.push(Import {
            path,
            name,
            is_exported,
            line,
        });
    }
}

/// Tokens of the longest visibility, `pub(in a::b::c)`.
const MOST_OF_VISIBILITY: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str, expected: &[(&str, &str, bool)]) {
        let names = Names::read(text);
        let found: Vec<_> = names
            .imports
            .iter()
            .map(|import| (import.path.join("::"), import.name, import.is_exported))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|(path, name, is_exported)| (path.as_str(), *name, *is_exported))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    fn mentions(text: &str, expected: &str) {
        let names = Names::read(text);
        let shown = |mention: &Mention<'_>| {
            let path = mention.path.join("::");
            match mention.form {
                Form::Plain => path,
                Form::Call => format!("{path}()"),
                Form::Method => format!(".{path}()"),
                Form::Field => format!(".{path}"),
                Form::Macro => format!("{path}!"),
            }
        };
        let found: Vec<_> = names.mentions.iter().map(shown).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn trees_of_imports_become_paths() {
        imports("use std::net;", &[("std::net", "net", false)]);
        imports(
            "pub use a::{self as b, c::{D, self}, E as _};",
            &[
                ("a", "b", true),
                ("a::c::D", "D", true),
                ("a::c", "c", true),
                ("a::E", "_", true),
            ],
        );
        imports("pub(in a::b) use super::*;", &[("super::*", "*", true)]);
        imports("fn f(x: (u8)) {} use ::a::b;", &[("a::b", "b", false)]);
        imports("fn f() -> impl Fn() + use<'a> {}", &[]);
    }

    #[test]
    fn mentions_have_a_path_and_a_form() {
        mentions("let a = thread::spawn(f);", "let a thread::spawn() f");
        mentions("x.elapsed().as_secs", "x .elapsed() .as_secs");
        mentions("for i in 0..n { println!(\"{i}\") }", "for i in n println!");
        mentions("if a != b {}", "if a b");
    }

    #[test]
    fn variants_are_no_mentions() {
        mentions(
            "enum A { #[b] Ended, Other { c: D }, Last(E) } Ended",
            "b c D E Ended",
        );
    }

    #[test]
    fn items_are_those_at_the_top_level() {
        let names = Names::read(
            "mod a; mod b { struct C; } pub const fn d() { const E: u8 = 0; } enum F {} macro_rules! g { () => {} } \
             #[cfg(test)] mod h;",
        );
        assert_eq!(names.items, ["d", "F", "g"]);
        assert_eq!(names.modules, ["a"]);
    }
}
