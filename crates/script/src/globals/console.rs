//! `console`: lines to the log, objects as k6 shows them.

use rquickjs::{Ctx, Function, Object, Result, Value, function::Rest};

use crate::inspect::inspect;

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
    let values = values.iter().map(
        |value| match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => text,
            None => inspect(value),
        },
    );
    values.collect::<Vec<_>>().join(" ")
}
