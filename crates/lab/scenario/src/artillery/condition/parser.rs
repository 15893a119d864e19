//! From text to terms: one token ahead, one function per rank of operators.

use serde_json::Value;

use super::{Operator, Term};

/// Why a condition cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at {at}; expected something like http.response_time.p95 < 250 and http.codes.200 > 0")]
pub(crate) struct ConditionError {
    problem: String,
    at: String,
}

/// The deepest nesting of parentheses. Reason: parsing and evaluation recurse.
const MOST_LEVELS: usize = 64;

/// Ranks of operators, the weakest first.
const RANKS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or), ("||", Operator::Or)],
    &[("and", Operator::And), ("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("=", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

/// The rank of `in`.
const COMPARISONS: usize = 2;

/// Operators, longer ones before their prefixes.
const SIGNS: [&str; 18] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "!", "=",
];

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Number(f64),
    Text(&'a str),
    /// A name in single quotes, which is never a word such as `and`.
    Quoted(&'a str),
    /// A name, or a word such as `and`.
    Word(&'a str),
    Sign(&'static str),
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, &'a str)>,
    next: usize,
    n_levels: usize,
}

pub(super) fn parse(text: &str) -> Result<Term, ConditionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        n_levels: 0,
    };
    let term = parser.ranked(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(term),
        Some((_, rest)) => Err(wrong("nothing may follow here", rest)),
    }
}

fn wrong(problem: &str, rest: &str) -> ConditionError {
    ConditionError {
        problem: problem.to_owned(),
        at: if rest.is_empty() {
            "the end".to_owned()
        } else {
            format!("`{rest}`")
        },
    }
}

fn tokens(text: &str) -> Result<Vec<(Token<'_>, &str)>, ConditionError> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let (token, behind) = token(rest).ok_or_else(|| wrong("this is not part of a condition", rest))?;
        tokens.push((token, rest));
        rest = behind.trim_start();
    }
    Ok(tokens)
}

fn token(text: &str) -> Option<(Token<'_>, &str)> {
    for (quote, token) in [
        ('"', Token::Text as fn(_) -> _),
        ('\'', Token::Quoted as fn(_) -> _),
    ] {
        if let Some(inside) = text.strip_prefix(quote) {
            let (inside, behind) = inside.split_once(quote)?;
            return Some((token(inside), behind));
        }
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, behind) = text.split_at(end);
        return Some((Token::Number(number.parse().ok()?), behind));
    }
    if let Some(&sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return Some((Token::Sign(sign), &text[sign.len()..]));
    }
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || "_$.".contains(c)))
        .unwrap_or(text.len());
    (end > 0).then(|| (Token::Word(&text[..end]), &text[end..]))
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.tokens.get(self.next).map_or("", |(_, rest)| rest)
    }

    /// Takes the next token when it is this word or sign.
    fn take(&mut self, wanted: &str) -> bool {
        let is_next = match self.tokens.get(self.next) {
            Some((Token::Word(word), _)) => *word == wanted,
            Some((Token::Sign(sign), _)) => *sign == wanted,
            _ => false,
        };
        self.next += usize::from(is_next);
        is_next
    }

    fn ranked(&mut self, rank: usize) -> Result<Term, ConditionError> {
        let Some(operators) = RANKS.get(rank) else {
            return self.factor();
        };
        let mut term = self.ranked(rank + 1)?;
        loop {
            if rank == COMPARISONS {
                if self.take("in") {
                    term = Term::In(Box::new(term), self.list()?);
                    continue;
                }
                if self.rest().starts_with("not in") {
                    self.next += 2;
                    term = Term::Not(Box::new(Term::In(Box::new(term), self.list()?)));
                    continue;
                }
            }
            let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) else {
                return Ok(term);
            };
            term = Term::Binary(operator, Box::new(term), Box::new(self.ranked(rank + 1)?));
        }
    }

    fn list(&mut self) -> Result<Vec<Term>, ConditionError> {
        if !self.take("(") {
            return Err(wrong("`in` needs a list such as (1, 2)", self.rest()));
        }
        let mut items = vec![self.ranked(0)?];
        while self.take(",") {
            items.push(self.ranked(0)?);
        }
        self.close(items)
    }

    fn close<T>(&mut self, inside: T) -> Result<T, ConditionError> {
        if self.take(")") {
            Ok(inside)
        } else {
            Err(wrong("`)` is missing", self.rest()))
        }
    }

    fn factor(&mut self) -> Result<Term, ConditionError> {
        self.n_levels += 1;
        if self.n_levels > MOST_LEVELS {
            return Err(wrong("the nesting is too deep", self.rest()));
        }
        let term = self.nested();
        self.n_levels -= 1;
        term
    }

    fn nested(&mut self) -> Result<Term, ConditionError> {
        if self.take("not") || self.take("!") {
            // It binds weaker than comparisons, as in filtrex.
            return Ok(Term::Not(Box::new(self.ranked(COMPARISONS)?)));
        }
        if self.take("-") {
            return Ok(Term::Negative(Box::new(self.factor()?)));
        }
        if self.take("(") {
            let inside = self.ranked(0)?;
            return self.close(inside);
        }
        let rest = self.rest();
        let term = match self.tokens.get(self.next) {
            Some((Token::Number(number), _)) => Term::Constant((*number).into()),
            Some((Token::Text(text), _)) => Term::Constant((*text).into()),
            Some((Token::Quoted(name), _)) => Term::Name((*name).to_owned()),
            Some((Token::Word("true"), _)) => Term::Constant(true.into()),
            Some((Token::Word("false"), _)) => Term::Constant(false.into()),
            Some((Token::Word("null"), _)) => Term::Constant(Value::Null),
            Some((Token::Word(word), _)) if !["and", "or", "in", "not"].contains(word) => {
                Term::Name((*word).to_owned())
            }
            _ => return Err(wrong("a name or a value is missing", rest)),
        };
        self.next += 1;
        if self.take("(") {
            return Err(wrong("conditions have no functions", rest));
        }
        Ok(term)
    }
}
