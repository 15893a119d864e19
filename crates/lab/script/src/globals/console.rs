//! `console`: lines to the log, objects as k6 shows them.

use rquickjs::{Value, function::Rest};

use crate::{
    arguments::utf8,
    inspect::{inspect, plain},
    members::{Members, members},
};

/// The longest line. Whole pages are shown; a text of a gigabyte is a mistake, which each virtual user would repeat.
const MAX_BYTES: usize = 16 << 20;

/// The object as a global.
pub(super) fn table() -> &'static Members {
    members![object c"console" => members![
        function c"log" => info,
        function c"info" => info,
        function c"debug" => debug,
        function c"warn" => warn,
        function c"error" => error,
        function c"trace" => trace,
    ]]
}

/// Defines the functions for levels.
macro_rules! levels {
    ($($level:ident),*) => {$(
        fn $level(values: Rest<Value<'_>>) {
            tracing::$level!(target: "console", "{}", line(&values.0));
        }
    )*};
}

levels!(info, debug, warn, error, trace);

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
