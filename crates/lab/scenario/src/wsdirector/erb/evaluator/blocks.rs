//! Methods with blocks: loops, and lists made from lists.

use super::{Evaluator, Stop};
use crate::wsdirector::erb::{arithmetic::binary, syntax::Block, value::Value};

impl Evaluator<'_> {
    /// The value of a method with a block; `None` for an unknown one.
    pub(super) fn with_block(
        &mut self,
        receiver: Option<&Value>,
        name: &str,
        arguments: &[Value],
        block: &Block,
        at: usize,
    ) -> Result<Option<Value>, Stop> {
        let Some(receiver) = receiver else {
            if name != "loop" {
                return Ok(None);
            }
            while self.runs(block, &[])? {}
            return Ok(Some(Value::Nil));
        };
        let steps = match (receiver, name, arguments) {
            (Value::Integer(n), "times", []) => Some((0, *n, 1)),
            (Value::Integer(first), "upto", [Value::Integer(last)]) => {
                Some((*first, last.saturating_add(1), 1))
            }
            (Value::Integer(first), "downto", [Value::Integer(last)]) => {
                Some((*first, last.saturating_sub(1), -1))
            }
            (Value::Integer(first), "step", [Value::Integer(last), Value::Integer(by)]) if *by != 0 => {
                Some((*first, last.saturating_add(by.signum()), *by))
            }
            (Value::Range(first, end, _), "step", [Value::Integer(by @ 1..)]) => Some((*first, *end, *by)),
            (Value::Range(first, end, _), "each", []) => Some((*first, *end, 1)),
            _ => None,
        };
        if let Some((mut number, end, by)) = steps {
            while if by > 0 { number < end } else { number > end } {
                if !self.runs(block, &[Value::Integer(number)])? {
                    break;
                }
                number = number.saturating_add(by);
            }
            return Ok(Some(receiver.clone()));
        }
        if !matches!(receiver, Value::List(_) | Value::Range(..) | Value::Map(_)) {
            return Ok(None);
        }
        let values = self.items(receiver, at)?;
        let mut kept = Vec::new();
        match (name, arguments) {
            ("each" | "each_pair", []) => {
                for value in values {
                    if !self.runs(block, &[value])? {
                        break;
                    }
                }
                return Ok(Some(receiver.clone()));
            }
            ("each_with_index", []) => {
                for (at, value) in (0..).zip(values) {
                    if !self.runs(block, &[value, Value::Integer(at)])? {
                        break;
                    }
                }
                return Ok(Some(receiver.clone()));
            }
            ("each_slice", [Value::Integer(n @ 1..)]) => {
                for part in values.chunks(usize::try_from(*n).unwrap_or(usize::MAX)) {
                    if !self.runs(block, &[Value::list(part.to_vec())])? {
                        break;
                    }
                }
                return Ok(Some(receiver.clone()));
            }
            ("map" | "collect" | "flat_map", []) => {
                for value in values {
                    match self.block(block, &[value])? {
                        Value::List(inner) if name == "flat_map" => {
                            kept.extend(inner.borrow().iter().cloned());
                        }
                        value => kept.push(value),
                    }
                }
            }
            ("select" | "filter" | "reject", []) => {
                for value in values {
                    if self.block(block, std::slice::from_ref(&value))?.is_true() == (name != "reject") {
                        kept.push(value);
                    }
                }
            }
            ("sum", []) => {
                let mut sum = Value::Integer(0);
                for value in values {
                    let value = self.block(block, &[value])?;
                    sum = binary("+", &sum, &value, &mut self.budget, at)?;
                }
                return Ok(Some(sum));
            }
            ("any?" | "all?", []) => {
                let is_any = name == "any?";
                for value in values {
                    if self.block(block, &[value])?.is_true() == is_any {
                        return Ok(Some(Value::Bool(is_any)));
                    }
                }
                return Ok(Some(Value::Bool(!is_any)));
            }
            ("find" | "detect", []) => {
                for value in values {
                    if self.block(block, std::slice::from_ref(&value))?.is_true() {
                        return Ok(Some(value));
                    }
                }
                return Ok(Some(Value::Nil));
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::list(kept)))
    }
}
