//! From the words of a template to its statements.

use super::{
    problem::Problem,
    syntax::{Block, Body, Kind, Node},
    token::{Token, Word, words},
    value::Value,
};

mod expressions;

/// How deep expressions and blocks may be nested.
const MAX_DEPTH: usize = 64;

/// How many operators or calls may follow one another without brackets. Reason: each one makes the expression deeper.
const MAX_CHAIN: usize = 200;

/// What people may write, for error texts.
const EXPECTED: &str = "a template understands ENV, scale, variables, numbers, texts, lists, maps, arithmetic, conditions, \
                        loops and rand, but not all of Ruby";

/// Reads a template.
///
/// # Errors
/// The first mistake.
pub(super) fn parse(template: &str) -> Result<Body, Problem> {
    let tokens = words(template)?;
    let mut parser = Parser {
        tokens: &tokens,
        at_end: template.len(),
        depth: 0,
        is_condition_of_loop: false,
    };
    let body = parser.body(&[])?;
    match parser.tokens.first() {
        None => Ok(body),
        Some(token) => Err(unexpected(token)),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at_end: usize,
    depth: usize,
    /// Whether a `do` belongs to the loop around the expression, and not to a call.
    is_condition_of_loop: bool,
}

fn unexpected(token: &Token) -> Problem {
    let what = match &token.word {
        Word::Copied(_) | Word::End => "the end of a tag".to_owned(),
        Word::Output => "<%=".to_owned(),
        Word::Integer(number) => number.to_string(),
        Word::Float(number) => number.to_string(),
        Word::Text(_) => "a text".to_owned(),
        Word::Symbol(name) => format!(":{name}"),
        Word::Label(name) => format!("{name}:"),
        Word::Name(name) | Word::Constant(name) => name.clone(),
        Word::Sign(sign) => (*sign).to_owned(),
    };
    Problem::new(token.at, format!("unexpected {what}; {EXPECTED}"))
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Word> {
        self.tokens.first().map(|token| &token.word)
    }

    fn at(&self) -> usize {
        self.tokens.first().map_or(self.at_end, |token| token.at)
    }

    fn take(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Word::Sign(found)) if *found == sign)
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        if is_there {
            self.take();
        }
        is_there
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Word::Name(found)) if found == name)
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let is_there = self.is_name(name);
        if is_there {
            self.take();
        }
        is_there
    }

    fn skip_ends(&mut self) {
        while matches!(self.peek(), Some(Word::End)) {
            self.take();
        }
    }

    fn wrong(&self) -> Problem {
        match self.tokens.first() {
            Some(token) => unexpected(token),
            None => Problem::new(
                self.at_end,
                format!("the template ends too early: an `end` or a bracket is missing; {EXPECTED}"),
            ),
        }
    }

    fn expect_sign(&mut self, sign: &'static str) -> Result<(), Problem> {
        if self.takes_sign(sign) {
            return Ok(());
        }
        let Problem { at, text } = self.wrong();
        Err(Problem::new(at, format!("expected `{sign}`; {text}")))
    }

    fn expect_name(&mut self, name: &'static str) -> Result<(), Problem> {
        if self.takes_name(name) {
            return Ok(());
        }
        let Problem { at, text } = self.wrong();
        Err(Problem::new(at, format!("expected `{name}`; {text}")))
    }

    fn variable(&mut self) -> Result<String, Problem> {
        match self.peek() {
            Some(Word::Name(name)) => {
                self.take();
                Ok(name.clone())
            }
            _ => Err(self.wrong()),
        }
    }

    /// Counts an operator or a call of a chain.
    fn link(&self, n_before: &mut usize) -> Result<(), Problem> {
        *n_before += 1;
        if *n_before > MAX_CHAIN {
            return Err(Problem::new(
                self.at(),
                format!("more than {MAX_CHAIN} operators or calls in a row"),
            ));
        }
        Ok(())
    }

    /// Runs `parse` one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth >= MAX_DEPTH {
            return Err(Problem::new(
                self.at(),
                format!("more than {MAX_DEPTH} levels of code"),
            ));
        }
        self.depth += 1;
        let outcome = parse(self);
        self.depth -= 1;
        outcome
    }

    /// Statements up to one of these words, which is left.
    fn body(&mut self, ends: &[&str]) -> Result<Body, Problem> {
        let mut body = Body::new();
        loop {
            self.skip_ends();
            match self.peek() {
                None => return Ok(body),
                Some(Word::Name(name)) if ends.contains(&name.as_str()) => return Ok(body),
                Some(Word::Sign("}")) if ends.contains(&"}") => return Ok(body),
                Some(_) => body.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Result<Node, Problem> {
        let at = self.at();
        match self.peek() {
            Some(Word::Copied(text)) => {
                self.take();
                return Ok(Node {
                    at,
                    kind: Kind::Copied(text.clone()),
                });
            }
            Some(Word::Output) => {
                self.take();
                self.skip_ends();
                let at = self.at();
                let value = self.expression()?;
                self.skip_ends_of_output();
                return Ok(Node {
                    at,
                    kind: Kind::Output(Box::new(value)),
                });
            }
            _ => {}
        }
        let mut node = self.expression()?;
        // `statement if condition`
        let mut n_links = 0;
        loop {
            self.link(&mut n_links)?;
            let at = self.at();
            let is_if = self.is_name("if");
            if !is_if && !self.is_name("unless") {
                break;
            }
            self.take();
            let condition = self.expression()?;
            node = Node {
                at,
                kind: when(is_if, condition, vec![node], Body::new()),
            };
        }
        match self.peek() {
            None | Some(Word::End | Word::Copied(_) | Word::Output | Word::Sign("}")) => Ok(node),
            Some(Word::Name(name)) if matches!(&**name, "end" | "else" | "elsif" | "then") => Ok(node),
            Some(_) => Err(self.wrong()),
        }
    }

    fn skip_ends_of_output(&mut self) {
        if matches!(self.peek(), Some(Word::End)) {
            self.take();
        }
    }

    fn block(&mut self) -> Result<Option<Block>, Problem> {
        let is_brace = self.is_sign("{");
        if !is_brace && (self.is_condition_of_loop || !self.is_name("do")) {
            return Ok(None);
        }
        self.take();
        let mut parameters = Vec::new();
        if self.takes_sign("|") {
            loop {
                parameters.push(self.variable()?);
                if !self.takes_sign(",") {
                    break;
                }
            }
            self.expect_sign("|")?;
        }
        let end = if is_brace { "}" } else { "end" };
        let body = self.deeper(|it| it.body(&[end]))?;
        if is_brace {
            self.expect_sign("}")?;
        } else {
            self.expect_name("end")?;
        }
        Ok(Some(Block { parameters, body }))
    }

    fn name(&mut self, name: &str, token: &Token) -> Result<Kind, Problem> {
        Ok(match name {
            "nil" => Kind::Literal(Value::Nil),
            "true" => Kind::Literal(Value::Bool(true)),
            "false" => Kind::Literal(Value::Bool(false)),
            "if" | "unless" => self.deeper(|it| it.condition(name == "if"))?,
            "while" | "until" => {
                let condition = Box::new(self.head_of_loop()?);
                let body = self.deeper(|it| it.body(&["end"]))?;
                self.expect_name("end")?;
                Kind::While {
                    condition,
                    is_until: name == "until",
                    body,
                }
            }
            "for" => {
                let variable = self.variable()?;
                self.expect_name("in")?;
                let values = Box::new(self.head_of_loop()?);
                let body = self.deeper(|it| it.body(&["end"]))?;
                self.expect_name("end")?;
                Kind::For {
                    variable,
                    values,
                    body,
                }
            }
            "break" => Kind::Break,
            "next" => Kind::Next,
            "begin" | "case" | "def" | "class" | "module" | "return" | "yield" | "lambda" | "proc"
            | "rescue" | "self" => {
                return Err(Problem::new(
                    token.at,
                    format!("`{name}` is not supported; {EXPECTED}"),
                ));
            }
            "end" | "else" | "elsif" | "do" | "then" | "in" => return Err(unexpected(token)),
            name => {
                let n_before = self.tokens.len();
                let (arguments, block) = self.arguments()?;
                if self.tokens.len() == n_before && !name.ends_with(['?', '!']) {
                    Kind::Variable(name.to_owned())
                } else {
                    Kind::Call {
                        receiver: None,
                        is_safe: false,
                        name: name.to_owned(),
                        arguments,
                        block,
                    }
                }
            }
        })
    }

    /// The expression of a loop, and the `do` behind it.
    fn head_of_loop(&mut self) -> Result<Node, Problem> {
        let outer = std::mem::replace(&mut self.is_condition_of_loop, true);
        let head = self.expression();
        self.is_condition_of_loop = outer;
        self.takes_name("do");
        head
    }

    /// The rest of a condition behind its first word.
    fn condition(&mut self, is_if: bool) -> Result<Kind, Problem> {
        let condition = self.expression()?;
        self.takes_name("then");
        let then = self.body(&["elsif", "else", "end"])?;
        let at = self.at();
        let otherwise = if self.takes_name("elsif") {
            let kind = self.deeper(|it| it.condition(true))?;
            return Ok(when(is_if, condition, then, vec![Node { at, kind }]));
        } else if self.takes_name("else") {
            self.body(&["end"])?
        } else {
            Body::new()
        };
        self.expect_name("end")?;
        Ok(when(is_if, condition, then, otherwise))
    }
}

fn when(is_if: bool, condition: Node, then: Body, otherwise: Body) -> Kind {
    let (then, otherwise) = if is_if {
        (then, otherwise)
    } else {
        (otherwise, then)
    };
    Kind::If {
        condition: Box::new(condition),
        then,
        otherwise,
    }
}
