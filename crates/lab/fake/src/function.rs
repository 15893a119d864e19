//! Functions that invent values: the rows of the catalog.

use std::fmt;

use crate::{
    arguments::{Argument, Arguments, Refusal},
    generator::Generator,
    parameter::{Kind, Parameter},
    value::Value,
    words::Words,
};

/// A function that invents a value.
pub struct Function {
    /// The name, which no other function has: `firstName`.
    pub name: &'static str,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
    /// The kind of the result.
    pub result: Kind,
    make: Make,
}

/// What a function does.
#[derive(Clone, Copy)]
enum Make {
    /// Picks a word.
    Word(Words),
    /// Makes a text without arguments.
    Text(fn(&mut Generator) -> String),
    /// Makes a number without arguments.
    Number(fn(&mut Generator) -> f64),
    /// Makes any value without arguments.
    Plain(fn(&mut Generator) -> Value),
    /// Makes any value with arguments.
    With(Making),
}

/// A function with arguments.
pub(crate) type Making = fn(&mut Generator, &Arguments<'_>) -> Result<Value, Refusal>;

impl Function {
    /// A value. Arguments beyond the parameters are ignored, as JavaScript ignores them.
    ///
    /// # Errors
    /// An argument is missing, or is not what the parameter expects.
    pub fn call(&'static self, generator: &mut Generator, given: &[Argument]) -> Result<Value, Refusal> {
        match self.make {
            Make::Word(words) => Ok(generator.pick(words).into()),
            Make::Text(make) => Ok(make(generator).into()),
            Make::Number(make) => Ok(make(generator).into()),
            Make::Plain(make) => Ok(make(generator)),
            Make::With(make) => make(generator, &Arguments::new(self.name, self.parameters, given)),
        }
    }

    /// The words, if the function picks one.
    #[cfg(test)]
    pub(crate) fn words(&self) -> Option<Words> {
        match self.make {
            Make::Word(words) => Some(words),
            _ => None,
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const fn row(name: &'static str, result: Kind, make: Make) -> Function {
    Function {
        name,
        parameters: &[],
        result,
        make,
    }
}

/// Picks a word.
pub(crate) const fn word(name: &'static str, words: Words) -> Function {
    row(name, Kind::Text, Make::Word(words))
}

/// Makes a text.
pub(crate) const fn text(name: &'static str, make: fn(&mut Generator) -> String) -> Function {
    row(name, Kind::Text, Make::Text(make))
}

/// Makes a number.
pub(crate) const fn number(name: &'static str, make: fn(&mut Generator) -> f64) -> Function {
    row(name, Kind::Number, Make::Number(make))
}

/// Makes a value of this kind.
pub(crate) const fn plain(name: &'static str, result: Kind, make: fn(&mut Generator) -> Value) -> Function {
    row(name, result, Make::Plain(make))
}

/// Makes a value of this kind with arguments.
pub(crate) const fn with(
    name: &'static str,
    parameters: &'static [Parameter],
    result: Kind,
    make: Making,
) -> Function {
    Function {
        name,
        parameters,
        result,
        make: Make::With(make),
    }
}
