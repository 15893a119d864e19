//! Expressions: operators by how tightly they bind, calls, and literals.

use super::{EXPECTED, Parser, unexpected, when};
use crate::wsdirector::erb::{
    problem::Problem,
    syntax::{Block, Kind, Node, Segment, Target},
    token::{Piece, Token, Word},
    value::Value,
};

/// Operators with two operands and how tightly they bind.
fn binding(sign: &str) -> Option<u8> {
    Some(match sign {
        ".." | "..." => 1,
        "||" => 2,
        "&&" => 3,
        "==" | "!=" | "<=>" | "===" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "<<" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        "**" => 11,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// An expression, with the words that bind less than any sign.
    pub(super) fn expression(&mut self) -> Result<Node, Problem> {
        self.deeper(|it| {
            let mut left = it.not()?;
            let mut n_links = 0;
            loop {
                it.link(&mut n_links)?;
                let at = it.at();
                let is_and = it.is_name("and");
                if !is_and && !it.is_name("or") {
                    return Ok(left);
                }
                it.take();
                it.skip_ends();
                let right = Box::new(it.not()?);
                let kind = if is_and {
                    Kind::And(Box::new(left), right)
                } else {
                    Kind::Or(Box::new(left), right)
                };
                left = Node { at, kind };
            }
        })
    }

    fn not(&mut self) -> Result<Node, Problem> {
        let at = self.at();
        if self.takes_name("not") {
            let value = Box::new(self.deeper(Self::not)?);
            return Ok(Node {
                at,
                kind: Kind::Not(value),
            });
        }
        self.assignment()
    }

    fn assignment(&mut self) -> Result<Node, Problem> {
        const OPERATORS: [(&str, &str); 9] = [
            ("=", ""),
            ("+=", "+"),
            ("-=", "-"),
            ("*=", "*"),
            ("/=", "/"),
            ("%=", "%"),
            ("**=", "**"),
            ("||=", "||"),
            ("&&=", "&&"),
        ];
        let left = self.ternary()?;
        let at = self.at();
        let found = OPERATORS.into_iter().find(|(sign, _)| self.is_sign(sign));
        let Some((_, operator)) = found else {
            return Ok(left);
        };
        let target = match left.kind {
            Kind::Variable(name) => Target::Variable(name),
            Kind::Index(values, key) => Target::Index(values, key),
            _ => return Err(self.wrong()),
        };
        self.take();
        self.skip_ends();
        let value = Box::new(self.deeper(Self::assignment)?);
        Ok(Node {
            at,
            kind: Kind::Assign {
                target,
                operator,
                value,
            },
        })
    }

    fn ternary(&mut self) -> Result<Node, Problem> {
        let condition = self.binary(0)?;
        let at = self.at();
        if !self.takes_sign("?") {
            return Ok(condition);
        }
        self.skip_ends();
        // `a ? b : c`, where `b :` may have been read as a label.
        let then = match self.tokens {
            [
                Token {
                    word: Word::Label(name),
                    at,
                    ..
                },
                ..,
            ] => {
                let node = Node {
                    at: *at,
                    kind: Kind::Variable(name.clone()),
                };
                self.take();
                node
            }
            _ => {
                let then = self.deeper(Self::ternary)?;
                self.skip_ends();
                self.expect_sign(":")?;
                then
            }
        };
        self.skip_ends();
        let otherwise = self.deeper(Self::ternary)?;
        Ok(Node {
            at,
            kind: when(true, condition, vec![then], vec![otherwise]),
        })
    }

    fn binary(&mut self, weakest: u8) -> Result<Node, Problem> {
        let mut left = self.unary()?;
        let mut n_links = 0;
        loop {
            self.link(&mut n_links)?;
            let Some(Word::Sign(sign)) = self.peek() else {
                return Ok(left);
            };
            let Some(strength) = binding(sign).filter(|strength| *strength > weakest) else {
                return Ok(left);
            };
            let at = self.at();
            self.take();
            self.skip_ends();
            // The power is right-associative.
            let right = self.deeper(|it| it.binary(if *sign == "**" { strength - 1 } else { strength }))?;
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match *sign {
                "&&" => Kind::And(a, b),
                "||" => Kind::Or(a, b),
                "!=" => Kind::Not(Box::new(Node {
                    at,
                    kind: Kind::Binary("==", a, b),
                })),
                ".." | "..." => Kind::Range {
                    first: a,
                    last: b,
                    is_open: *sign == "...",
                },
                sign => Kind::Binary(sign, a, b),
            };
            left = Node { at, kind };
        }
    }

    fn unary(&mut self) -> Result<Node, Problem> {
        let at = self.at();
        if self.takes_sign("!") {
            let value = Box::new(self.deeper(Self::unary)?);
            return Ok(Node {
                at,
                kind: Kind::Not(value),
            });
        }
        if self.takes_sign("-") {
            // `-2 ** 2` is -4, and `-2.abs` is 2.
            if let Some(Word::Integer(_) | Word::Float(_)) = self.peek()
                && !matches!(
                    self.tokens.get(1),
                    Some(Token {
                        word: Word::Sign("**"),
                        ..
                    })
                )
            {
                let number = match self.take().map(|token| &token.word) {
                    Some(Word::Integer(number)) => Value::Integer(-number),
                    Some(Word::Float(number)) => Value::Float(-number),
                    _ => return Err(self.wrong()),
                };
                let node = Node {
                    at,
                    kind: Kind::Literal(number),
                };
                return self.calls(node);
            }
            let value = Box::new(self.deeper(|it| it.binary(10))?);
            return Ok(Node {
                at,
                kind: Kind::Negative(value),
            });
        }
        if self.takes_sign("+") {
            return self.deeper(Self::unary);
        }
        let primary = self.primary()?;
        self.calls(primary)
    }

    /// The calls and indexes behind an expression.
    fn calls(&mut self, mut receiver: Node) -> Result<Node, Problem> {
        let mut n_links = 0;
        loop {
            self.link(&mut n_links)?;
            let at = self.at();
            let is_safe = self.is_sign("&.");
            if self.takes_sign(".") || self.takes_sign("&.") || self.takes_sign("::") {
                let name = match self.take().map(|token| &token.word) {
                    Some(Word::Name(name) | Word::Constant(name)) => name.clone(),
                    _ => {
                        return Err(Problem::new(
                            at,
                            format!("expected the name of a method; {EXPECTED}"),
                        ));
                    }
                };
                let (arguments, block) = self.arguments()?;
                receiver = Node {
                    at,
                    kind: Kind::Call {
                        receiver: Some(Box::new(receiver)),
                        is_safe,
                        name,
                        arguments,
                        block,
                    },
                };
            } else if let [
                Token {
                    word: Word::Sign("["),
                    is_apart: false,
                    ..
                },
                ..,
            ] = self.tokens
            {
                self.take();
                self.skip_ends();
                let key = Box::new(self.expression()?);
                self.skip_ends();
                self.expect_sign("]")?;
                receiver = Node {
                    at,
                    kind: Kind::Index(Box::new(receiver), key),
                };
            } else {
                return Ok(receiver);
            }
        }
    }

    /// The arguments and the block of a call.
    pub(super) fn arguments(&mut self) -> Result<(Vec<Node>, Option<Block>), Problem> {
        let mut arguments = Vec::new();
        if let [
            Token {
                word: Word::Sign("("),
                is_apart: false,
                ..
            },
            ..,
        ] = self.tokens
        {
            self.take();
            arguments = self.list(")")?;
        } else if let [
            Token {
                word: Word::Integer(_) | Word::Float(_) | Word::Text(_) | Word::Symbol(_),
                is_apart: true,
                ..
            },
            ..,
        ] = self.tokens
        {
            loop {
                arguments.push(self.expression()?);
                if !self.takes_sign(",") {
                    break;
                }
                self.skip_ends();
            }
        }
        let block = self.block()?;
        Ok((arguments, block))
    }

    /// Expressions between commas, up to the closing sign.
    fn list(&mut self, end: &'static str) -> Result<Vec<Node>, Problem> {
        let mut values = Vec::new();
        loop {
            self.skip_ends();
            if self.takes_sign(end) {
                return Ok(values);
            }
            values.push(self.expression()?);
            self.skip_ends();
            if !self.takes_sign(",") {
                self.expect_sign(end)?;
                return Ok(values);
            }
        }
    }

    fn map(&mut self) -> Result<Vec<(Node, Node)>, Problem> {
        let mut pairs = Vec::new();
        loop {
            self.skip_ends();
            if self.takes_sign("}") {
                return Ok(pairs);
            }
            let at = self.at();
            let key = match self.peek() {
                Some(Word::Label(name)) => {
                    self.take();
                    Node {
                        at,
                        kind: Kind::Literal(Value::Symbol(name.as_str().into())),
                    }
                }
                _ => {
                    let key = self.binary(0)?;
                    self.expect_sign("=>")?;
                    key
                }
            };
            self.skip_ends();
            pairs.push((key, self.expression()?));
            self.skip_ends();
            if !self.takes_sign(",") {
                self.expect_sign("}")?;
                return Ok(pairs);
            }
        }
    }

    fn primary(&mut self) -> Result<Node, Problem> {
        let at = self.at();
        let Some(token) = self.take() else {
            return Err(self.wrong());
        };
        let literal = |value| Ok(Kind::Literal(value));
        let kind = match &token.word {
            Word::Integer(number) => literal(Value::Integer(*number)),
            Word::Float(number) => literal(Value::Float(*number)),
            Word::Symbol(name) => literal(Value::Symbol(name.as_str().into())),
            Word::Text(pieces) => self.text(pieces),
            Word::Constant(name) => self.constant(name),
            Word::Name(name) => self.name(name, token),
            Word::Sign("(") => {
                self.skip_ends();
                let inner = self.expression()?;
                self.skip_ends();
                self.expect_sign(")")?;
                return Ok(inner);
            }
            Word::Sign("[") => Ok(Kind::List(self.deeper(|it| it.list("]"))?)),
            Word::Sign("{") => Ok(Kind::Map(self.deeper(Self::map)?)),
            _ => Err(unexpected(token)),
        };
        Ok(Node { at, kind: kind? })
    }

    fn text(&mut self, pieces: &'a [Piece]) -> Result<Kind, Problem> {
        let segment = |piece: &'a Piece| {
            Ok(match piece {
                Piece::Literal(text) => Segment::Literal(text.clone()),
                Piece::Code(tokens) => {
                    let mut inner = Parser {
                        tokens,
                        at_end: tokens.last().map_or(self.at_end, |last| last.at),
                        depth: self.depth + 1,
                        is_condition_of_loop: false,
                    };
                    let body = inner.deeper(|it| it.body(&[]))?;
                    Segment::Expression(body)
                }
            })
        };
        let segments = pieces.iter().map(segment).collect::<Result<Vec<_>, Problem>>()?;
        Ok(match segments.as_slice() {
            [] => Kind::Literal(Value::text("")),
            [Segment::Literal(text)] => Kind::Literal(Value::text(text.as_str())),
            _ => Kind::Text(segments),
        })
    }

    /// A constant, or a function with a capital: `Integer("1")`.
    fn constant(&mut self, name: &str) -> Result<Kind, Problem> {
        if let [
            Token {
                word: Word::Sign("("),
                is_apart: false,
                ..
            },
            ..,
        ] = self.tokens
        {
            let (arguments, block) = self.arguments()?;
            return Ok(Kind::Call {
                receiver: None,
                is_safe: false,
                name: name.to_owned(),
                arguments,
                block,
            });
        }
        Ok(Kind::Literal(Value::Constant(name.into())))
    }
}
