//! The arguments of a call of `crypto.subtle`.

use std::rc::Rc;

use rquickjs::{Array, Ctx, Value};

use super::{
    failure::{Failure, not_bytes},
    key_object::key_of,
    parameters::Parameters,
};
use crate::{
    arguments::{Text, items},
    bytes,
    modules::is_truthy,
    webcrypto::{Key, Kind, Usage, Usages},
};

/// A call.
pub(super) struct Call<'js> {
    pub(super) ctx: Ctx<'js>,
    arguments: Vec<Value<'js>>,
}

impl<'js> Call<'js> {
    /// A call with these arguments.
    pub(super) fn new(ctx: Ctx<'js>, arguments: Vec<Value<'js>>) -> Self {
        Self { ctx, arguments }
    }

    /// The argument at `index`; undefined when the script gave fewer.
    pub(super) fn value(&self, index: usize) -> Value<'js> {
        let value = self.arguments.get(index).cloned();
        value.unwrap_or_else(|| Value::new_undefined(self.ctx.clone()))
    }

    /// An argument as text.
    pub(super) fn text(&self, index: usize) -> Result<String, Failure> {
        Ok(self.value(index).get::<Text>()?.0)
    }

    /// Whether an argument is true for JavaScript.
    pub(super) fn flag(&self, index: usize) -> bool {
        is_truthy(&self.value(index))
    }

    /// A copy of the bytes of an argument, which the text calls `name`.
    pub(super) fn bytes(&self, index: usize, name: &str) -> Result<Vec<u8>, Failure> {
        let value = self.value(index);
        bytes::copy(&value).ok_or_else(|| not_bytes(name, &value))
    }

    /// A key, which the text calls `name`.
    pub(super) fn key(&self, index: usize, name: &str) -> Result<Rc<Key>, Failure> {
        key_of(&self.value(index), name)
    }

    /// The algorithm and its parameters, for the operation `what`.
    pub(super) fn parameters(&self, index: usize, what: &'static str) -> Result<Parameters<'js>, Failure> {
        Parameters::read(self.value(index), what)
    }

    /// A list of usages.
    pub(super) fn usages(&self, index: usize) -> Result<Usages, Failure> {
        let value = self.value(index);
        let Some(list) = value.as_array() else {
            let text = format!(
                "keyUsages is {}; expected a list, for example [\"sign\", \"verify\"]",
                value.type_name()
            );
            return Err(Kind::Type.error(text).into());
        };
        let usage = |list: &Array<'js>| -> Result<Usages, Failure> {
            let names = items::<Text>(list)?;
            names.map(|name| Ok(Usage::parse(&name?.0)?)).collect()
        };
        usage(list)
    }
}
