//! The text between `{{` and `}}`: a variable with a path into it, or one of a few functions.

use serde_json::Value;

use plimsoll_load::nearest::nearest;

use super::fake::Fake;
use crate::artillery::variables::Variables;

/// Why a template cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// `{{` without its end.
    #[error("`{{{{` has no `{end}`; write a template as {{{{ name }}}}")]
    Unclosed {
        /// What is missing.
        end: &'static str,
    },
    /// Neither a variable nor a call.
    #[error(
        "`{text}` is neither a variable nor a function call; expected something like {{{{ user.name }}}}, {{{{ \
         ids[0] }}}} or {{{{ $randomNumber(1, 10) }}}}"
    )]
    Expression {
        /// As it was written.
        text: String,
    },
    /// An unknown function.
    #[error("`{name}` is not a function; {}", known(nearest))]
    Function {
        /// As it was written.
        name: String,
        /// A similar name, if there is one.
        nearest: Option<String>,
    },
    /// Arguments that the function does not accept.
    #[error("`{text}` has wrong arguments; expected something like {example}")]
    Arguments {
        /// The call as it was written.
        text: String,
        /// A good one.
        example: &'static str,
    },
}

fn known(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "there are {}, and those of the plugin fake-data, such as $internetEmail",
            FUNCTIONS.join(", ")
        ),
    }
}

/// One expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// A variable, and the path into it.
    Variable { name: Box<str>, path: Vec<Key> },
    /// `$env.NAME` and `$processEnvironment.NAME`.
    Environment(Box<str>),
    /// `$randomNumber(from, to)`, both included.
    RandomNumber { from: i64, to: i64 },
    /// `$randomString(length)`.
    RandomString { length: usize },
    /// A function of the plugin `fake-data`, without arguments.
    Fake(&'static Fake),
}

/// A step of a path into a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Name(Box<str>),
    Index(usize),
}

const FUNCTIONS: [&str; 2] = ["$randomNumber", "$randomString"];

/// The names under which the system's variables are.
pub(super) const ENVIRONMENTS: [&str; 2] = ["$env", "$processEnvironment"];

/// Artillery's default.
const RANDOM_STRING_LENGTH: usize = 10;

/// The longest random text. Reason: a mistake must not take all memory.
const LONGEST_RANDOM_STRING: usize = 1 << 20;

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        let unreadable = || TemplateError::Expression {
            text: text.to_owned(),
        };
        if let Some((name, arguments)) = text.split_once('(') {
            let arguments = arguments.strip_suffix(')').ok_or_else(unreadable)?;
            return call(text, name.trim(), arguments);
        }
        let (name, mut rest) = word(text).ok_or_else(unreadable)?;
        let mut path = Vec::new();
        while !rest.is_empty() {
            let (key, behind) = step(rest).ok_or_else(unreadable)?;
            path.push(key);
            rest = behind;
        }
        if ENVIRONMENTS.contains(&name) {
            return match path.as_slice() {
                [Key::Name(variable)] => Ok(Self::Environment(variable.clone())),
                _ => Err(unreadable()),
            };
        }
        Ok(Self::Variable {
            name: name.into(),
            path,
        })
    }

    /// The function of the plugin `fake-data` that it calls.
    pub(super) fn fake(&self) -> Option<&'static Fake> {
        match self {
            Self::Fake(fake) => Some(fake),
            _ => None,
        }
    }

    /// The variable that it reads.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Variable { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The value for one user. `None` if there is no such variable. The results of functions are texts.
    pub(super) fn value(&self, variables: &Variables) -> Option<Value> {
        Some(match self {
            Self::Variable { name, path } => {
                // A name may itself have dots, for example from a table.
                let found = variables.get(name).and_then(|value| {
                    path.iter().try_fold(value, |value, key| match key {
                        Key::Name(name) => value.get(&**name),
                        Key::Index(index) => value.get(index),
                    })
                });
                return found.cloned();
            }
            Self::Environment(name) => {
                let value = variables.globals().environment.get(&**name)?;
                value.as_str().into()
            }
            Self::RandomNumber { from, to } => fastrand::i64(from..=to).to_string().into(),
            Self::RandomString { length } => {
                let letters = (0..*length).map(|_| fastrand::alphanumeric());
                letters.collect::<String>().into()
            }
            Self::Fake(fake) => fake.value(&variables.globals().fakes).into(),
        })
    }
}

/// The name at the front, and the rest.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || "_$-".contains(c)))
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `.name`, `[0]` or `['name']`, and the rest.
fn step(text: &str) -> Option<(Key, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let (name, behind) = word(rest)?;
        let key = name.parse().map_or_else(|_| Key::Name(name.into()), Key::Index);
        return Some((key, behind));
    }
    let (inside, behind) = text.strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim();
    let quoted = ["'", "\""]
        .iter()
        .find_map(|quote| inside.strip_prefix(quote)?.strip_suffix(quote));
    let key = match quoted {
        Some(name) => Key::Name(name.into()),
        None => Key::Index(inside.parse().ok()?),
    };
    Some((key, behind))
}

fn call(text: &str, name: &str, arguments: &str) -> Result<Expression, TemplateError> {
    let arguments: Vec<_> = arguments
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    let wrong = |example| TemplateError::Arguments {
        text: text.to_owned(),
        example,
    };
    match name {
        "$randomNumber" => {
            let numbers: Option<Vec<i64>> = arguments.iter().map(|text| text.parse().ok()).collect();
            match numbers.as_deref() {
                Some(&[from, to]) if from <= to => Ok(Expression::RandomNumber { from, to }),
                _ => Err(wrong("$randomNumber(1, 10)")),
            }
        }
        "$randomString" => {
            let length = match arguments.as_slice() {
                [] => Some(RANDOM_STRING_LENGTH),
                [length] => length.parse().ok(),
                _ => None,
            };
            let length = length.filter(|&length| length <= LONGEST_RANDOM_STRING);
            let length = length.ok_or_else(|| wrong("$randomString(10)"))?;
            Ok(Expression::RandomString { length })
        }
        _ => match Fake::named(name) {
            Some(fake) if arguments.is_empty() => Ok(Expression::Fake(fake)),
            Some(_) => Err(wrong("$internetEmail(); options are in config.plugins.fake-data")),
            None => Err(TemplateError::Function {
                name: name.to_owned(),
                nearest: nearest(name, FUNCTIONS.into_iter().chain(Fake::names())).map(str::to_owned),
            }),
        },
    }
}
