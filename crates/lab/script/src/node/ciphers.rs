//! AES for Node's `createCipheriv` and `createDecipheriv`.

use std::cell::RefCell;

use rquickjs::{
    Class, Ctx, Exception, Function, IntoJs as _, JsLifetime, Object, Result, Value, class::Trace,
};

use crate::{
    bytes,
    webcrypto::{Error, Mode, Pieces, WrongEnd},
};

/// Encryption or decryption in progress.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "NativeCipher")]
struct Cipher {
    #[qjs(skip_trace)]
    pieces: RefCell<Pieces>,
}

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("cipher", Function::new(ctx.clone(), cipher)?)
}

fn cipher<'js>(
    ctx: Ctx<'js>,
    encrypts: bool,
    mode: String,
    key: Value<'js>,
    iv: Value<'js>,
) -> Result<Class<'js, Cipher>> {
    let mode = match mode.as_str() {
        "cbc" => Mode::Cbc,
        "ctr" => Mode::Ctr,
        _ => Mode::Gcm,
    };
    let key = bytes::of(&ctx, &key, "the key")?;
    let iv = bytes::of(&ctx, &iv, "the initialization vector")?;
    let pieces = Pieces::new(encrypts, mode, &key, &iv).map_err(|error| thrown(&ctx, &error))?;
    let pieces = RefCell::new(pieces);
    Class::instance(ctx, Cipher { pieces })
}

fn thrown(ctx: &Ctx<'_>, error: &Error) -> rquickjs::Error {
    Exception::throw_message(ctx, &error.text)
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Cipher {
    fn set_padding(&self, pads: bool) {
        self.pieces.borrow_mut().set_padding(pads);
    }

    fn add<'js>(&self, ctx: Ctx<'js>, additional: Value<'js>) -> Result<()> {
        let additional = bytes::of(&ctx, &additional, "setAAD()")?;
        self.pieces.borrow_mut().add(&additional);
        Ok(())
    }

    fn update<'js>(&self, ctx: Ctx<'js>, data: Value<'js>) -> Result<Value<'js>> {
        let data = bytes::of(&ctx, &data, "update()")?;
        let out = self.pieces.borrow_mut().update(&data);
        bytes::buffer(&ctx, &out.map_err(|error| thrown(&ctx, &error))?)
    }

    /// The last bytes, or what is wrong with the end: `length`, `padding` or `tag`.
    fn finish<'js>(&self, ctx: Ctx<'js>, expected_tag: Value<'js>) -> Result<Value<'js>> {
        let expected = bytes::copy(&expected_tag);
        let ended = self.pieces.borrow_mut().finish(expected.as_deref());
        match ended {
            Ok(out) => bytes::buffer(&ctx, &out),
            Err(WrongEnd::Length) => "length".into_js(&ctx),
            Err(WrongEnd::Padding) => "padding".into_js(&ctx),
            Err(WrongEnd::Tag) => "tag".into_js(&ctx),
        }
    }

    /// The first bytes of the tag; undefined if there is none.
    fn tag<'js>(&self, ctx: Ctx<'js>, n_bytes: usize) -> Result<Value<'js>> {
        match self.pieces.borrow().tag(n_bytes) {
            Some(tag) => bytes::buffer(&ctx, tag),
            None => Ok(Value::new_undefined(ctx)),
        }
    }
}
