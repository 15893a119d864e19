//! The statements and expressions of a template.

use super::value::Value;

/// An expression or a statement, and its position in the template.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

/// Statements, which run one after the other.
pub(super) type Body = Vec<Node>;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Text that is copied to the result.
    Copied(String),
    /// An expression whose value is written to the result.
    Output(Box<Node>),
    Literal(Value),
    /// A text with interpolated expressions.
    Text(Vec<Segment>),
    Variable(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// `first..last`, or with three points `first...end`.
    Range {
        first: Box<Node>,
        last: Box<Node>,
        is_open: bool,
    },
    Not(Box<Node>),
    Negative(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Assign {
        target: Target,
        /// The operator before `=`; empty for a plain assignment.
        operator: &'static str,
        value: Box<Node>,
    },
    Index(Box<Node>, Box<Node>),
    If {
        condition: Box<Node>,
        then: Body,
        otherwise: Body,
    },
    While {
        condition: Box<Node>,
        /// Whether it runs until the condition holds.
        is_until: bool,
        body: Body,
    },
    For {
        variable: String,
        values: Box<Node>,
        body: Body,
    },
    Call {
        receiver: Option<Box<Node>>,
        /// Whether `nil` as a receiver gives `nil` (`&.`).
        is_safe: bool,
        name: String,
        arguments: Vec<Node>,
        block: Option<Block>,
    },
    Break,
    Next,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) enum Segment {
    Literal(String),
    Expression(Body),
}

/// What an assignment changes.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Variable(String),
    Index(Box<Node>, Box<Node>),
}

/// `{ |a, b| … }` or `do |a, b| … end`.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) parameters: Vec<String>,
    pub(super) body: Body,
}
