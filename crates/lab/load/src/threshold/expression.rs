//! `p(95)<500`: an aggregation, a comparison and a limit.

use std::{fmt, str::FromStr};

use super::{Aggregation, ThresholdError};

/// How it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==` and `===`
    Equal,
    /// `!=`
    NotEqual,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What is compared.
    pub aggregation: Aggregation,
    /// How.
    pub operator: Operator,
    /// The limit: milliseconds, bytes, plain numbers or shares.
    pub limit: f64,
    /// As it was written.
    text: String,
}

/// Longer operators first, so that none is mistaken for the beginning of another.
const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Expression {
    /// Whether it holds for this value.
    pub fn holds(&self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.limit,
            Operator::LessOrEqual => value <= self.limit,
            Operator::Greater => value > self.limit,
            Operator::GreaterOrEqual => value >= self.limit,
            // Exactly, as in k6: typical uses are `rate==1` and `count==0`.
            Operator::Equal => value.total_cmp(&self.limit).is_eq(),
            Operator::NotEqual => value.total_cmp(&self.limit).is_ne(),
        }
    }
}

impl FromStr for Expression {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem: String| ThresholdError::Syntax {
            expression: text.to_owned(),
            problem,
        };
        let at = text
            .find(['<', '>', '=', '!'])
            .ok_or_else(|| error("it has no comparison operator".to_owned()))?;
        let (aggregation, rest) = text.split_at(at);
        let (sign, operator) = OPERATORS
            .into_iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| error("the comparison operator is not one of < <= > >= == === !=".to_owned()))?;
        let aggregation = aggregation.trim();
        let limit = rest[sign.len()..].trim();
        Ok(Self {
            aggregation: Aggregation::parse(aggregation)
                .ok_or_else(|| error(format!("`{aggregation}` is not an aggregation")))?,
            operator,
            limit: limit
                .parse()
                .ok()
                .filter(|limit: &f64| limit.is_finite())
                // -0 and 0 are one limit.
                .map(|limit| limit + 0.0)
                .ok_or_else(|| error(format!("`{limit}` is not a number")))?,
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
