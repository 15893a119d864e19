//! Values as people read them in a log: `{ a: 1, b: "x" }`.

use rquickjs::{ArrayBuffer, Coerced, Exception, Object, Value};

use crate::{arguments::utf8, bytes};

/// The depth to which nested objects are shown: enough for data, and a limit for objects that contain themselves.
const MAX_DEPTH: usize = 16;

/// The largest output for one value, in characters.
const MAX_CHARS: usize = 64 << 10;

/// The value in one line.
pub(crate) fn inspect(value: &Value<'_>) -> String {
    let mut inspector = Inspector {
        text: String::new(),
        around: Vec::new(),
    };
    inspector.value(value);
    if inspector.is_full() {
        cut(&mut inspector.text);
        inspector.text.push('…');
    }
    inspector.text
}

struct Inspector<'js> {
    text: String,
    /// The objects that are being shown, outermost first.
    around: Vec<Value<'js>>,
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_CHARS));
}

impl<'js> Inspector<'js> {
    /// Whether the output has reached its limit. The limit matters because an array can have four billion items that
    /// take no memory, and an object can report any length.
    fn is_full(&self) -> bool {
        self.text.len() > MAX_CHARS
    }

    fn value(&mut self, value: &Value<'js>) {
        if let Some(mut text) = value.as_string().and_then(|text| utf8(text).ok()) {
            cut(&mut text);
            self.text.push_str(&serde_json::Value::String(text).to_string());
        } else if let Some(object) = value.as_object() {
            self.object(object);
        } else if value.is_symbol() {
            self.text
                .push_str(&serde_json::Value::String(plain(value)).to_string());
        } else {
            self.text.push_str(&plain(value));
        }
    }

    fn object(&mut self, object: &Object<'js>) {
        if self.around.contains(object.as_value()) {
            return self.text.push_str("[Circular]");
        }
        if self.around.len() == MAX_DEPTH {
            return self.text.push('…');
        }
        self.around.push(object.as_value().clone());
        self.content(object);
        self.around.pop();
    }

    fn content(&mut self, object: &Object<'js>) {
        if object.as_value().is_function() {
            self.text.push_str("[object Function]");
        } else if let Some(exception) = object.as_exception() {
            self.exception(exception);
        } else if let Some(array) = object.as_array() {
            // Not as a list: one of four billion holes is shown as far as anything is.
            let length: f64 = array.as_object().get("length").unwrap_or_default();
            let items =
                (0..length as u32).map_while(|index| array.as_object().get::<_, Value<'js>>(index).ok());
            self.items(items);
        } else if let Some(buffer) = ArrayBuffer::from_value(object.as_value().clone()) {
            self.bytes(&bytes::copy(buffer.as_value()).unwrap_or_default());
        } else if let Some(date) = iso_date(object) {
            self.text.push_str(&format!("\"{date}\""));
        } else if let Some(name) = typed_array(object) {
            let length = object.get::<_, usize>("length").unwrap_or(0);
            self.text.push_str(&format!("{name}({length}) "));
            let items = (0..length).map_while(|index| object.get::<_, Value<'js>>(index as u32).ok());
            self.items(items);
        } else if let Some(plain) = plain_object(object) {
            self.properties(&plain);
        } else {
            self.properties(object);
        }
    }

    /// As JavaScript writes it: the name and the message.
    fn exception(&mut self, exception: &Exception<'js>) {
        let name: Option<String> = exception.as_object().get("name").ok();
        let parts = [name, exception.message()].into_iter().flatten();
        let mut parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        parts.iter_mut().for_each(cut);
        self.text.push_str(&parts.join(": "));
    }

    fn items(&mut self, items: impl Iterator<Item = Value<'js>>) {
        let mut separator = "[ ";
        for item in items {
            if self.is_full() {
                return;
            }
            self.text.push_str(separator);
            self.value(&item);
            separator = ", ";
        }
        self.text.push_str(if separator == "[ " { "[]" } else { " ]" });
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let hex: Vec<_> = bytes
            .iter()
            .take(MAX_CHARS / 3)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let text = format!(
            "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
            hex.join(" "),
            bytes.len()
        );
        self.text.push_str(&text);
    }

    fn properties(&mut self, object: &Object<'js>) {
        let mut separator = "{ ";
        for (name, value) in object.props::<String, Value<'js>>().filter_map(Result::ok) {
            if self.is_full() {
                return;
            }
            self.text.push_str(separator);
            self.text.push_str(&name);
            self.text.push_str(": ");
            self.value(&value);
            separator = ", ";
        }
        self.text.push_str(if separator == "{ " { "{}" } else { " }" });
    }
}

/// The text for a value that is neither text nor an object: of a symbol its description.
pub(crate) fn plain(value: &Value<'_>) -> String {
    match (value.as_number(), value.as_bool()) {
        (Some(number), _) if number.is_infinite() => {
            if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        (Some(number), _) => value
            .ctx()
            .json_stringify(number)
            .ok()
            .flatten()
            .and_then(|text| text.to_string().ok())
            .filter(|_| number.is_finite())
            .unwrap_or_else(|| number.to_string()),
        (_, Some(truth)) => truth.to_string(),
        _ if value.is_null() => "null".to_owned(),
        _ if value.is_big_int() => {
            let mut digits = value
                .get::<Coerced<String>>()
                .map(|text| text.0)
                .unwrap_or_default();
            cut(&mut digits);
            digits
        }
        _ if value.is_symbol() => {
            let description = value.as_symbol().and_then(|symbol| symbol.description().ok());
            description
                .and_then(|text| utf8(text.as_string()?).ok())
                .unwrap_or_default()
        }
        _ => value.type_name().to_owned(),
    }
}

/// The fields of an object of the host, for JSON: they are not its own properties.
fn plain_object<'js>(object: &Object<'js>) -> Option<Object<'js>> {
    let to_json: rquickjs::Function<'js> = object.get("toJSON").ok()?;
    to_json.call((rquickjs::function::This(object.clone()),)).ok()
}

fn iso_date(object: &Object<'_>) -> Option<String> {
    let constructor: Object<'_> = object.get("constructor").ok()?;
    (constructor.get::<_, String>("name").ok()? == "Date").then_some(())?;
    let to_iso: rquickjs::Function<'_> = object.get("toISOString").ok()?;
    to_iso.call((rquickjs::function::This(object.clone()),)).ok()
}

fn typed_array(object: &Object<'_>) -> Option<String> {
    object.get::<_, ArrayBuffer<'_>>("buffer").ok()?;
    let constructor: Object<'_> = object.get("constructor").ok()?;
    constructor
        .get("name")
        .ok()
        .filter(|name: &String| name.ends_with("Array"))
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn what_is_shown_of_a_value_has_an_end() {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        context.with(|ctx| {
            let check = |value: &str, begins: &str, n_bytes: usize| {
                let shown = inspect(&ctx.eval::<Value<'_>, _>(format!("({value})")).unwrap());
                assert!(shown.starts_with(begins), "{value} is {shown:.100}");
                assert!(
                    (n_bytes..n_bytes + 1_000).contains(&shown.len()),
                    "{value}: {} bytes",
                    shown.len()
                );
            };
            check("new Array(2 ** 32 - 1)", "[ undefined, undefined", MAX_CHARS);
            let own = "{ length: 1e15, buffer: new ArrayBuffer(8), constructor: { name: 'OwnArray' } }";
            check(own, "OwnArray(1000000000000000) [ undefined, ", MAX_CHARS);
            let mixed = "[1n, Symbol('y'), Infinity, -Infinity, NaN, new TypeError('bad'), new Error('')]";
            check(
                mixed,
                "[ 1, \"y\", Infinity, -Infinity, NaN, TypeError: bad, Error ]",
                0,
            );
            check("['x'.repeat(2 ** 24)]", "[ \"xxx", MAX_CHARS);
            check("Array.from({ length: 1e5 }, (_, i) => i)", "[ 0, 1, 2", MAX_CHARS);
            let object = "Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['key' + i, i]))";
            check(object, "{ key0: 0, key1: 1", MAX_CHARS);
            check(
                "{ toJSON() { throw 2 }, a: '\\ud800' }",
                "{ toJSON: [object Function], a: \"\u{fffd}\"",
                0,
            );
        });
    }
}
