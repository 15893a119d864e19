//! `console`: lines to the log, objects as k6 shows them.

use rquickjs::{Ctx, Function, Object, Result, Value, function::Rest};

use crate::{
    arguments::utf8,
    inspect::{inspect, plain},
};

/// The longest line. Whole pages are shown; a text of a gigabyte is a mistake, which each virtual user would repeat.
const MAX_BYTES: usize = 16 << 20;

/// The object.
pub(crate) fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    macro_rules! level {
        ($level:ident) => {
            Function::new(ctx.clone(), |values: Rest<Value<'js>>| {
                tracing::$level!(target: "console", "{}", line(&values.0));
            })?
        };
    }
    let console = Object::new(ctx.clone())?;
    console.set("log", level!(info))?;
    console.set("info", level!(info))?;
    console.set("debug", level!(debug))?;
    console.set("warn", level!(warn))?;
    console.set("error", level!(error))?;
    console.set("trace", level!(trace))?;
    Ok(console)
}

/// Values with spaces between them; texts without quotes.
fn line(values: &[Value<'_>]) -> String {
    let mut line = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        match value.as_string().and_then(|text| utf8(text).ok()) {
            Some(text) => line.push_str(&text),
            None if value.is_symbol() => line.push_str(&plain(value)),
            None => line.push_str(&inspect(value)),
        }
        if line.len() > MAX_BYTES {
            line.truncate(line.floor_char_boundary(MAX_BYTES));
            line.push('…');
            break;
        }
    }
    line
}
