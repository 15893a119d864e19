//! Runs the statements of a template.

use std::{cell::RefCell, rc::Rc};

use super::{
    arithmetic::binary,
    budget::Budget,
    functions::{CONSTANTS, function},
    methods::{items, method},
    problem::Problem,
    syntax::{Block, Kind, Node, Segment, Target},
    value::Value,
};

mod blocks;

/// Why a statement did not run to its end.
enum Stop {
    Problem(Problem),
    /// `break`, up to the loop around it.
    Break,
    /// `next`, up to the loop or the block around it.
    Next,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

type Outcome = Result<Value, Stop>;

/// Looks up a variable of the environment.
pub(super) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Runs a template. `scale` is the value of its variable `scale`.
///
/// # Errors
/// The first thing that cannot be evaluated.
pub(super) fn run(body: &[Node], scale: u32, environment: Variable<'_>) -> Result<String, Problem> {
    let mut evaluator = Evaluator {
        environment,
        variables: vec![("scale".to_owned(), Value::Integer(scale.into()))],
        result: String::new(),
        budget: Budget::default(),
    };
    match evaluator.body(body) {
        Ok(_) => Ok(evaluator.result),
        Err(Stop::Problem(problem)) => Err(problem),
        Err(Stop::Break | Stop::Next) => {
            let at = body.first().map_or(0, |node| node.at);
            Err(Problem::new(at, "`break` and `next` need a loop around them"))
        }
    }
}

struct Evaluator<'a> {
    environment: Variable<'a>,
    /// The variables of all blocks around a statement, the innermost last.
    variables: Vec<(String, Value)>,
    result: String,
    budget: Budget,
}

impl Evaluator<'_> {
    /// The value of the last statement.
    fn body(&mut self, body: &[Node]) -> Outcome {
        let mut last = Value::Nil;
        for node in body {
            last = self.evaluate(node)?;
        }
        Ok(last)
    }

    fn evaluate(&mut self, node: &Node) -> Outcome {
        self.budget.step(node.at)?;
        let at = node.at;
        Ok(match &node.kind {
            Kind::Copied(text) => {
                self.write(text, at)?;
                Value::Nil
            }
            Kind::Output(value) => {
                let found = self.evaluate(value)?;
                if let (Value::Nil, Some(name)) = (&found, self.unset_variable(value)) {
                    return Err(Problem::new(
                        at,
                        format!(
                            "the variable {name} is not set; set it, or write a default: <%= ENV[\"{name}\"] || \"default\" %>"
                        ),
                    )
                    .into());
                }
                self.write(&found.shown(), at)?;
                Value::Nil
            }
            Kind::Literal(Value::Constant(name)) if !CONSTANTS.contains(&&**name) => {
                return Err(Problem::new(
                    at,
                    format!(
                        "the constant {name} is not supported; expected one of {}",
                        CONSTANTS.join(", ")
                    ),
                )
                .into());
            }
            Kind::Literal(value) => value.clone(),
            Kind::Text(segments) => self.text(segments, at)?,
            Kind::Variable(name) => self.variable(name, at)?,
            Kind::List(nodes) => {
                self.budget.bytes(at, (nodes.len() * size_of::<Value>()) as u64)?;
                let values = nodes.iter().map(|node| self.evaluate(node));
                Value::list(values.collect::<Result<_, _>>()?)
            }
            Kind::Map(pairs) => self.map(pairs, at)?,
            Kind::Range { first, last, is_open } => self.range(first, last, *is_open, at)?,
            Kind::Not(value) => Value::Bool(!self.evaluate(value)?.is_true()),
            Kind::Negative(value) => {
                let value = self.evaluate(value)?;
                binary("-", &Value::Integer(0), &value, &mut self.budget, at)?
            }
            Kind::And(left, right) => match self.evaluate(left)? {
                left if left.is_true() => self.evaluate(right)?,
                left => left,
            },
            Kind::Or(left, right) => match self.evaluate(left)? {
                left if left.is_true() => left,
                _ => self.evaluate(right)?,
            },
            Kind::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                binary(operator, &left, &right, &mut self.budget, at)?
            }
            Kind::Assign {
                target,
                operator,
                value,
            } => self.assign(target, operator, value, at)?,
            Kind::Index(values, key) => {
                let (values, key) = (self.evaluate(values)?, self.evaluate(key)?);
                self.index(&values, &key, at)?
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let body = if self.evaluate(condition)?.is_true() {
                    then
                } else {
                    otherwise
                };
                self.body(body)?
            }
            Kind::While {
                condition,
                is_until,
                body,
            } => {
                while self.evaluate(condition)?.is_true() != *is_until {
                    if !self.turn(body)? {
                        break;
                    }
                }
                Value::Nil
            }
            Kind::For {
                variable,
                values,
                body,
            } => {
                let values = self.evaluate(values)?;
                for value in self.items(&values, at)? {
                    self.set(variable, value);
                    if !self.turn(body)? {
                        break;
                    }
                }
                values
            }
            Kind::Call {
                receiver,
                is_safe,
                name,
                arguments,
                block,
            } => self.call(receiver.as_deref(), *is_safe, name, arguments, block.as_ref(), at)?,
            Kind::Break => return Err(Stop::Break),
            Kind::Next => return Err(Stop::Next),
        })
    }

    fn write(&mut self, text: &str, at: usize) -> Result<(), Problem> {
        self.budget.bytes(at, text.len() as u64)?;
        self.result.push_str(text);
        Ok(())
    }

    /// The name of the variable of the environment, if an expression is only that and it is unset.
    fn unset_variable(&self, node: &Node) -> Option<String> {
        let Kind::Index(values, key) = &node.kind else {
            return None;
        };
        match (&values.kind, &key.kind) {
            (Kind::Literal(Value::Constant(name)), Kind::Literal(Value::Text(key))) if &**name == "ENV" => {
                Some(key.to_string())
            }
            _ => None,
        }
    }

    fn known(&self, name: &str) -> Option<&Value> {
        let mut variables = self.variables.iter().rev();
        variables.find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Changes a variable, or makes it in the innermost block.
    fn set(&mut self, name: &str, value: Value) {
        let mut variables = self.variables.iter_mut().rev();
        match variables.find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    fn variable(&self, name: &str, at: usize) -> Result<Value, Problem> {
        if let Some(value) = self.known(name) {
            return Ok(value.clone());
        }
        match name {
            "rand" => Ok(Value::Float(fastrand::f64())),
            name => Err(Problem::new(
                at,
                format!(
                    "`{name}` is neither a variable nor a function of a template; expected for example scale or rand(10)"
                ),
            )),
        }
    }

    fn text(&mut self, segments: &[Segment], at: usize) -> Outcome {
        let mut text = String::new();
        for segment in segments {
            match segment {
                Segment::Literal(literal) => text.push_str(literal),
                Segment::Expression(body) => text.push_str(&self.body(body)?.shown()),
            }
            self.budget.bytes(at, text.len() as u64)?;
        }
        Ok(Value::text(text))
    }

    fn map(&mut self, pairs: &[(Node, Node)], at: usize) -> Outcome {
        let map = Value::Map(Rc::new(RefCell::default()));
        for (key, value) in pairs {
            let (key, value) = (self.evaluate(key)?, self.evaluate(value)?);
            self.put(&map, key, value, at)?;
        }
        Ok(map)
    }

    fn range(&mut self, first: &Node, last: &Node, is_open: bool, at: usize) -> Outcome {
        match (self.evaluate(first)?, self.evaluate(last)?) {
            (Value::Integer(first), Value::Integer(last)) => Ok(Value::Range(
                first,
                last.saturating_add(i64::from(!is_open)),
                is_open,
            )),
            (first, last) => Err(Problem::new(
                at,
                format!(
                    "a range needs two whole numbers, and got {} and {}",
                    first.class(),
                    last.class()
                ),
            )
            .into()),
        }
    }

    fn assign(&mut self, target: &Target, operator: &'static str, value: &Node, at: usize) -> Outcome {
        match target {
            Target::Variable(name) => {
                let old = match operator {
                    "" => None,
                    "||" | "&&" => Some(self.known(name).cloned().unwrap_or(Value::Nil)),
                    _ => Some(self.variable(name, at)?),
                };
                let new = self.combined(old, operator, value, at)?;
                self.set(name, new.clone());
                Ok(new)
            }
            Target::Index(values, key) => {
                let (values, key) = (self.evaluate(values)?, self.evaluate(key)?);
                let old = match operator {
                    "" => None,
                    _ => Some(self.index(&values, &key, at)?),
                };
                let new = self.combined(old, operator, value, at)?;
                self.put(&values, key, new.clone(), at)?;
                Ok(new)
            }
        }
    }

    fn combined(&mut self, old: Option<Value>, operator: &'static str, value: &Node, at: usize) -> Outcome {
        match (old, operator) {
            (None, _) => self.evaluate(value),
            (Some(old), "||") if old.is_true() => Ok(old),
            (Some(old), "&&") if !old.is_true() => Ok(old),
            (Some(_), "||" | "&&") => self.evaluate(value),
            (Some(old), operator) => {
                let value = self.evaluate(value)?;
                Ok(binary(operator, &old, &value, &mut self.budget, at)?)
            }
        }
    }

    fn index(&self, values: &Value, key: &Value, at: usize) -> Result<Value, Problem> {
        let place = |n: usize, key: i64| {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            usize::try_from(if key < 0 { key + n } else { key }).ok()
        };
        match (values, key) {
            (Value::Constant(name), Value::Text(key)) if &**name == "ENV" => {
                Ok((self.environment)(key).map_or(Value::Nil, Value::text))
            }
            (Value::List(values), Value::Integer(key)) => {
                let values = values.borrow();
                let found = place(values.len(), *key).and_then(|key| values.get(key));
                Ok(found.cloned().unwrap_or(Value::Nil))
            }
            (Value::Text(text), Value::Integer(key)) => {
                let found = place(text.chars().count(), *key).and_then(|key| text.chars().nth(key));
                Ok(found.map_or(Value::Nil, |c| Value::text(c.to_string())))
            }
            (Value::List(list), Value::Range(first, end, _)) => {
                let list = list.borrow();
                let n = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let from_end = |at: i64| if at < 0 { at + n } else { at };
                // `..-1` ends behind the last item.
                let (first, end) = (from_end(*first), if *end <= 0 { *end + n } else { *end });
                let items = list.iter().enumerate();
                let is_within = |at: usize| i64::try_from(at).is_ok_and(|at| (first..end).contains(&at));
                let items = items
                    .filter(|(at, _)| is_within(*at))
                    .map(|(_, value)| value.clone());
                Ok(Value::list(items.collect()))
            }
            (Value::Map(pairs), key) => {
                let pairs = pairs.borrow();
                let found = pairs.iter().find(|(other, _)| other.equals(key));
                Ok(found.map_or(Value::Nil, |(_, value)| value.clone()))
            }
            (values, key) => Err(Problem::new(
                at,
                format!("{} has no item for {}", values.class(), key.class()),
            )),
        }
    }

    fn put(&mut self, values: &Value, key: Value, value: Value, at: usize) -> Result<(), Problem> {
        self.budget.bytes(at, 2 * size_of::<Value>() as u64)?;
        match (values, key) {
            (Value::Map(pairs), key) => {
                let mut pairs = pairs.borrow_mut();
                match pairs.iter_mut().find(|(other, _)| other.equals(&key)) {
                    Some((_, old)) => *old = value,
                    None => pairs.push((key, value)),
                }
                Ok(())
            }
            (Value::List(list), Value::Integer(key)) => {
                let mut list = list.borrow_mut();
                let key = usize::try_from(key).ok().filter(|key| *key <= list.len());
                let key = key.ok_or_else(|| Problem::new(at, "the list has no such place"))?;
                match list.get_mut(key) {
                    Some(place) => *place = value,
                    None => list.push(value),
                }
                Ok(())
            }
            (values, _) => Err(Problem::new(at, format!("{} cannot be changed", values.class()))),
        }
    }

    /// Runs the body of a loop once. Returns whether the loop goes on.
    fn turn(&mut self, body: &[Node]) -> Result<bool, Stop> {
        match self.body(body) {
            Ok(_) | Err(Stop::Next) => Ok(true),
            Err(Stop::Break) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    fn items(&mut self, values: &Value, at: usize) -> Result<Vec<Value>, Problem> {
        Ok(match values {
            Value::List(values) => values.borrow().clone(),
            Value::Range(first, end, _) => items(*first, *end, &mut self.budget, at)?,
            Value::Map(pairs) => {
                let pair = |(key, value): &(Value, Value)| Value::list(vec![key.clone(), value.clone()]);
                pairs.borrow().iter().map(pair).collect()
            }
            other => return Err(Problem::new(at, format!("{} has no items", other.class()))),
        })
    }

    fn call(
        &mut self,
        receiver: Option<&Node>,
        is_safe: bool,
        name: &str,
        arguments: &[Node],
        block: Option<&Block>,
        at: usize,
    ) -> Outcome {
        let receiver = receiver.map(|node| self.evaluate(node)).transpose()?;
        if is_safe && matches!(receiver, Some(Value::Nil)) {
            return Ok(Value::Nil);
        }
        let arguments = arguments.iter().map(|node| self.evaluate(node));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        if let Some(block) = block
            && let Some(value) = self.with_block(receiver.as_ref(), name, &arguments, block, at)?
        {
            return Ok(value);
        }
        let unknown = |text: String| Stop::from(Problem::new(at, text));
        match receiver {
            None => function(name, &arguments, &mut self.budget, at)?.ok_or_else(|| {
                unknown(format!(
                    "the function {name} with {} arguments is not supported",
                    arguments.len()
                ))
            }),
            Some(Value::Constant(constant)) if &*constant == "ENV" => {
                self.environment(name, &arguments, block, at)
            }
            Some(receiver) => {
                let found = match block {
                    None => method(&receiver, name, &arguments, &mut self.budget, at)?,
                    Some(_) => None,
                };
                let with = if block.is_some() { " with a block" } else { "" };
                found.ok_or_else(|| {
                    unknown(format!(
                        "the method {name}{with} of {} is not supported",
                        receiver.class()
                    ))
                })
            }
        }
    }

    fn environment(&mut self, name: &str, arguments: &[Value], block: Option<&Block>, at: usize) -> Outcome {
        match (name, arguments) {
            ("fetch", [Value::Text(key), default @ ..]) => match ((self.environment)(key), default, block) {
                (Some(value), _, _) => Ok(Value::text(value)),
                (None, [default, ..], _) => Ok(default.clone()),
                (None, [], Some(block)) => self.body(&block.body),
                (None, [], None) => Err(Problem::new(
                    at,
                    format!("the variable {key} is not set; set it, or write a default: ENV.fetch(\"{key}\", \"default\")"),
                )
                .into()),
            },
            ("key?" | "has_key?" | "include?", [Value::Text(key)]) => Ok(Value::Bool((self.environment)(key).is_some())),
            _ => Err(Problem::new(at, format!("the method {name} of ENV is not supported; expected ENV[\"NAME\"] or ENV.fetch")).into()),
        }
    }

    /// Runs a block of a loop once. Returns whether the loop goes on.
    fn runs(&mut self, block: &Block, arguments: &[Value]) -> Result<bool, Stop> {
        match self.block(block, arguments) {
            Ok(_) => Ok(true),
            Err(Stop::Break) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    /// The value of a block. Its parameters and its own variables are gone behind it.
    fn block(&mut self, block: &Block, arguments: &[Value]) -> Outcome {
        // One list for several parameters is spread over them.
        let spread = match (arguments, block.parameters.len()) {
            ([Value::List(values)], 2..) => values.borrow().clone(),
            _ => arguments.to_vec(),
        };
        let n_outside = self.variables.len();
        let values = spread.into_iter().chain(std::iter::repeat(Value::Nil));
        self.variables
            .extend(block.parameters.iter().cloned().zip(values));
        let outcome = match self.body(&block.body) {
            Err(Stop::Next) => Ok(Value::Nil),
            outcome => outcome,
        };
        self.variables.truncate(n_outside);
        outcome
    }
}
