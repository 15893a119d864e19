//! Plain data of scripts as JSON, in one pass.
//!
//! What scripts send is nearly always an object of numbers, texts, lists and other such objects. Here they are read where they
//! lie in the engine, without running any code of the script, and written once in the form that is sent. Data with behaviour of
//! their own (`toJSON`, getters, proxies, classes) are not plain, and are left to `JSON.stringify`.

#![expect(
    unsafe_code,
    reason = "rquickjs has no functions for it, which the engine's copy adds"
)]

use std::{borrow::Cow, mem::MaybeUninit, slice};

use plimsoll_cable::identifier::{MAX_DEPTH, write_string};
use rquickjs::{Value, qjs};

/// The longest text, in bytes. Reason: data that hold other data many times may be endless, and `JSON.stringify` is bound by the
/// memory of its runtime.
const MAX_BYTES: usize = 1 << 20;

/// Numbers with a fraction between these have no exponent in JavaScript.
const WITHOUT_EXPONENT: std::ops::Range<f64> = 1e-6..1e21;

/// Whole numbers up to this one are exact.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// An object's fields as a JSON object whose keys are in alphabetical order on every level, with a text field, key and value, that
/// replaces one of the object. `None` when the data are not plain, or not written like this: see
/// [`encode_action`](plimsoll_cable::identifier::encode_action).
pub(crate) fn encode_object(value: &Value<'_>, field: Option<(&str, &str)>) -> Option<String> {
    let mut writer = Writer {
        ctx: value.ctx().as_raw().as_ptr(),
        out: String::with_capacity(64),
    };
    let raw = value.as_raw();
    let (qjs::JS_PLAIN_OBJECT, count) = writer.kind(raw) else {
        return None;
    };
    writer.object(raw, count, field, 1)?;
    Some(writer.out)
}

/// Writes values of one context. All of them are borrowed from the value that [`encode_object`] was given: they stay where they are,
/// because no code of the script runs meanwhile.
struct Writer {
    ctx: *mut qjs::JSContext,
    out: String,
}

/// The value of a field.
enum Content<'a> {
    OfScript(qjs::JSValue),
    Text(&'a str),
}

impl Writer {
    fn value(&mut self, value: qjs::JSValue, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || self.out.len() > MAX_BYTES {
            return None;
        }
        // SAFETY: the tag says which field of the union is set.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(value) {
                qjs::JS_TAG_STRING => write_string(&text(value)?, &mut self.out),
                qjs::JS_TAG_INT => self.number(f64::from(qjs::JS_VALUE_GET_INT(value)))?,
                qjs::JS_TAG_FLOAT64 => self.number(qjs::JS_VALUE_GET_FLOAT64(value))?,
                qjs::JS_TAG_BOOL => self.out.push_str(if qjs::JS_VALUE_GET_BOOL(value) {
                    "true"
                } else {
                    "false"
                }),
                qjs::JS_TAG_NULL => self.out.push_str("null"),
                qjs::JS_TAG_OBJECT => match self.kind(value) {
                    (qjs::JS_PLAIN_OBJECT, count) => self.object(value, count, None, depth + 1)?,
                    (qjs::JS_PLAIN_ARRAY, count) => self.array(value, count, depth + 1)?,
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(())
    }

    /// What kind of data a value is, and how many places it has.
    fn kind(&self, value: qjs::JSValue) -> (qjs::JSPlainKind, u32) {
        let mut count = 0;
        // SAFETY: the value and its context are alive.
        let kind = unsafe { qjs::JS_GetPlainKind(self.ctx, value, &raw mut count) };
        (kind, count)
    }

    fn object(
        &mut self,
        object: qjs::JSValue,
        count: u32,
        field: Option<(&str, &str)>,
        depth: usize,
    ) -> Option<()> {
        let mut fields: Vec<(&str, Content<'_>)> = Vec::with_capacity(count as usize + 1);
        for i in 0..count {
            if let Some((key, value)) = self.property(object, i)?
                && field.is_none_or(|(name, _)| name != key)
            {
                fields.push((key, Content::OfScript(value)));
            }
        }
        fields.extend(field.map(|(key, text)| (key, Content::Text(text))));
        fields.sort_unstable_by_key(|(key, _)| *key);
        self.out.push('{');
        for (n, (key, content)) in fields.into_iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            write_string(key, &mut self.out);
            self.out.push(':');
            match content {
                Content::Text(text) => write_string(text, &mut self.out),
                Content::OfScript(value) => self.value(value, depth)?,
            }
        }
        self.out.push('}');
        Some(())
    }

    /// The property in a place of an object. The inner `None`: JSON does not show it.
    fn property<'a>(&self, object: qjs::JSValue, i: u32) -> Option<Option<(&'a str, qjs::JSValue)>> {
        let (mut key, mut value) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the value is an object with more places than `i`; key and value are written when the answer is 1. The
        // key lives as long as the object is not changed.
        unsafe {
            match qjs::JS_GetPlainProperty(self.ctx, object, i, key.as_mut_ptr(), value.as_mut_ptr()) {
                0 => Some(None),
                1 => {
                    let value = value.assume_init();
                    if qjs::JS_VALUE_GET_NORM_TAG(value) == qjs::JS_TAG_UNDEFINED {
                        return Some(None);
                    }
                    Some(Some((ascii(key.assume_init())?, value)))
                }
                _ => None,
            }
        }
    }

    fn array(&mut self, array: qjs::JSValue, count: u32, depth: usize) -> Option<()> {
        self.out.push('[');
        for i in 0..count {
            if i > 0 {
                self.out.push(',');
            }
            // SAFETY: the value is an array with more items than `i`, and nothing changes it meanwhile.
            let item = unsafe { qjs::JS_GetPlainItem(array, i) };
            // SAFETY: every value has a tag.
            if unsafe { qjs::JS_VALUE_GET_NORM_TAG(item) } == qjs::JS_TAG_UNDEFINED {
                self.out.push_str("null");
            } else {
                self.value(item, depth)?;
            }
        }
        self.out.push(']');
        Some(())
    }

    fn number(&mut self, number: f64) -> Option<()> {
        use std::fmt::Write;

        // Writing to a text cannot fail.
        if number.fract() == 0.0 && number.abs() <= MOST_EXACT {
            let _ = write!(self.out, "{}", number as i64);
        } else if WITHOUT_EXPONENT.contains(&number.abs()) {
            let _ = write!(self.out, "{number}");
        } else if !number.is_finite() {
            self.out.push_str("null");
        } else {
            return None;
        }
        Some(())
    }
}

/// The characters of a text. `None`: they lie in several pieces, or are no valid UTF-16.
///
/// # Safety
/// The value is a text, which is not changed or dropped meanwhile.
unsafe fn text<'a>(value: qjs::JSValue) -> Option<Cow<'a, str>> {
    let mut text = MaybeUninit::uninit();
    // SAFETY: the value is alive, and the text is written when the answer is true.
    unsafe {
        if !qjs::JS_GetPlainText(value, text.as_mut_ptr()) {
            return None;
        }
        let text = text.assume_init();
        if text.is_wide {
            let units = slice::from_raw_parts(text.chars.cast::<u16>(), text.len as usize);
            return String::from_utf16(units).ok().map(Cow::Owned);
        }
        match ascii(text) {
            Some(text) => Some(Cow::Borrowed(text)),
            None => Some(Cow::Owned(latin1(text).iter().copied().map(char::from).collect())),
        }
    }
}

/// The characters of a text that are all ASCII.
///
/// # Safety
/// As of [`text`].
unsafe fn ascii<'a>(text: qjs::JSPlainText) -> Option<&'a str> {
    if text.is_wide {
        return None;
    }
    // SAFETY: it is narrow.
    let characters = unsafe { latin1(text) };
    characters
        .is_ascii()
        .then(|| str::from_utf8(characters).ok())
        .flatten()
}

/// # Safety
/// The text is narrow, and is not changed or dropped meanwhile.
unsafe fn latin1<'a>(text: qjs::JSPlainText) -> &'a [u8] {
    // SAFETY: the engine gives the place and the number of the characters, a byte each.
    unsafe { slice::from_raw_parts(text.chars.cast::<u8>(), text.len as usize) }
}

#[cfg(test)]
mod tests;
