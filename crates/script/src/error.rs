//! Why a script failed, as its author wants to read it.

use std::fmt;

use rquickjs::{Ctx, Error, Value};

use crate::program::Program;

/// An exception, or a refusal of the host, with its place in the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptError {
    /// What was thrown: `TypeError: not a function`.
    pub message: String,
    /// The innermost place in a script, when there is one.
    pub location: Option<Location>,
    /// The line of source there.
    pub source_line: Option<String>,
    /// The calls that led there, innermost first, one per line; empty when unknown.
    pub stack: String,
    /// It was not the script's doing: its time was over, or it ended the run.
    pub is_interruption: bool,
}

/// A place in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The module: a path or a URL.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl ScriptError {
    /// A refusal of the host without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// What `error` came from; takes the pending exception out of `ctx`.
    pub(crate) fn caught(ctx: &Ctx<'_>, error: &Error, program: &Program) -> Self {
        if error.is_exception() {
            Self::of_value(&ctx.catch(), program)
        } else {
            Self::new(error.to_string())
        }
    }

    /// Of a value that was thrown, whatever it is.
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
        let stack = exception.stack().unwrap_or_default();
        let location = stack.lines().find_map(|frame| Location::of_frame(frame, program));
        Self {
            message,
            source_line: location.as_ref().and_then(|place| program.source_line(place)),
            location: location.as_ref().map(|place| program.displayed(place)),
            stack: program.displayed_stack(&stack),
            is_interruption: false,
        }
    }

    /// The message and its place on one line: equal for equal failures.
    pub fn reason(&self) -> String {
        match &self.location {
            Some(location) => format!("{} ({location})", self.message),
            None => self.message.clone(),
        }
    }
}

impl Location {
    /// Of a line `    at name (file:line:column)` of a stack; `None` for native frames.
    fn of_frame(frame: &str, program: &Program) -> Option<Self> {
        let place = frame.trim().trim_end_matches(')');
        let place = place
            .rsplit_once('(')
            .map_or_else(|| place.trim_start_matches("at "), |(_, place)| place);
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let location = Self {
            file: file.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        };
        program.knows(&location.file).then_some(location)
    }
}

/// A thrown value that is no error.
fn describe(thrown: &Value<'_>) -> String {
    if let Some(text) = thrown.as_string().and_then(|text| text.to_string().ok()) {
        return text;
    }
    let json = thrown.ctx().json_stringify(thrown.clone());
    let json = json.ok().flatten().and_then(|json| json.to_string().ok());
    json.unwrap_or_else(|| thrown.type_name().to_owned())
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(Location { line, column, .. }) = &self.location
            && let Some(source) = &self.source_line
        {
            let gutter = line.to_string().len();
            write!(f, "\n{line} | {source}\n{:gutter$} | {:>column$}", "", "^")?;
        }
        for frame in self.stack.lines() {
            write!(f, "\n    {}", frame.trim())?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptError {}
