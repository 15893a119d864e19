//! Why a script failed, as its author wants to read it.

use std::fmt;

use rquickjs::{Ctx, Error, Value};

use crate::{
    arguments::utf8,
    inspect::plain,
    program::Program,
    source::{Excerpt, Location},
};

/// The most bytes that an error keeps of a thrown value, and of its stack trace. A script may throw a response's body.
const MAX_BYTES: usize = 16 << 10;

/// An exception, or a refusal of the host, with its place in the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptError {
    /// The message of the thrown value: `TypeError: not a function`.
    pub message: String,
    /// The innermost place in a script, when there is one.
    pub excerpt: Option<Box<Excerpt>>,
    /// The calls that led there, innermost first, one per line; empty when unknown.
    pub stack: String,
    /// Whether the script was interrupted because its time was over.
    pub is_interruption: bool,
    /// Whether the script left because it had ended the run.
    pub is_abort: bool,
}

impl ScriptError {
    /// A refusal of the host without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: shortened(message.into()),
            ..Self::default()
        }
    }

    /// The failure behind `error`. Takes the pending exception out of `ctx`.
    pub(crate) fn caught(ctx: &Ctx<'_>, error: &Error, program: &Program) -> Self {
        if error.is_exception() {
            Self::of_value(&ctx.catch(), program)
        } else {
            Self::new(error.to_string())
        }
    }

    /// The error for a thrown value of any type.
    pub(crate) fn of_value(thrown: &Value<'_>, program: &Program) -> Self {
        let Some(exception) = thrown.as_exception() else {
            return Self::new(describe(thrown));
        };
        let name = exception.as_object().get::<_, String>("name").unwrap_or_default();
        let text = exception.message().unwrap_or_default();
        let message = match (name.as_str(), text.as_str()) {
            ("" | "Error", text) => text.to_owned(),
            (name, "") => name.to_owned(),
            (name, text) => format!("{name}: {text}"),
        };
        let stack = shortened(exception.stack().unwrap_or_default());
        let excerpt = stack.lines().find_map(|frame| excerpt_of_frame(frame, program));
        Self {
            message: shortened(message),
            excerpt: excerpt.map(Box::new),
            stack: program.displayed(&stack),
            is_interruption: false,
            is_abort: false,
        }
    }

    /// The message and its place on one line: equal for equal failures.
    pub fn reason(&self) -> String {
        match &self.excerpt {
            Some(excerpt) => format!("{} ({})", self.message, excerpt.location),
            None => self.message.clone(),
        }
    }
}

/// The excerpt for a line `    at name (file:line:column)` of a stack; `None` for native frames.
fn excerpt_of_frame(frame: &str, program: &Program) -> Option<Excerpt> {
    let place = frame.trim().trim_end_matches(')');
    let place = place
        .rsplit_once('(')
        .map_or_else(|| place.trim_start_matches("at "), |(_, place)| place);
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let original = &program.modules.get(file)?.original;
    let location = Location {
        file: program.displayed(file),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    };
    Some(Excerpt::new(location, original))
}

/// A thrown value that is not an error.
fn describe(thrown: &Value<'_>) -> String {
    if let Some(text) = thrown.as_string().and_then(|text| utf8(text).ok()) {
        return text;
    }
    if !thrown.is_object() {
        return plain(thrown);
    }
    let json = thrown.ctx().json_stringify(thrown.clone());
    let json = json.ok().flatten().and_then(|json| json.to_string().ok());
    json.unwrap_or_else(|| thrown.type_name().to_owned())
}

fn shortened(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push('…');
    }
    text
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        for frame in self.stack.lines() {
            write!(f, "\n    {}", frame.trim())?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptError {}
