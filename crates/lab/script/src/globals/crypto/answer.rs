//! The promise that a call of `crypto.subtle` returns.
//!
//! Most operations take less than a millisecond and are done at once. Slow ones (new RSA keys, PBKDF2, private RSA keys,
//! P-384 and P-521) would stop all virtual users of the worker, so they run on a thread of the runtime while the others
//! go on.

use rquickjs::{Ctx, Exception, Function, IntoJs as _, Object, Persistent, Promise, Result, Value};

use super::{failure::Failure, key_object::KeyObject};
use crate::{
    bytes,
    events::Callback,
    host::{Host, Stage},
    promises,
    webcrypto::{Error, Exported, Generated, Jwk, Key, Kind},
};

/// The result of an operation.
pub(super) enum Made {
    Bytes(Vec<u8>),
    Truth(bool),
    Key(Box<Key>),
    Pair(Box<(Key, Key)>),
    Jwk(Box<Jwk>),
}

/// An operation: done, or to be done elsewhere.
pub(super) enum Step {
    Done(Made),
    Slow(Box<dyn FnOnce() -> std::result::Result<Made, Error> + Send>),
}

impl From<Generated> for Made {
    fn from(generated: Generated) -> Self {
        match generated {
            Generated::Secret(key) => Self::Key(Box::new(key)),
            Generated::Pair { private, public } => Self::Pair(Box::new((private, public))),
        }
    }
}

impl From<Exported> for Made {
    fn from(exported: Exported) -> Self {
        match exported {
            Exported::Bytes(bytes) => Self::Bytes(bytes),
            Exported::Jwk(jwk) => Self::Jwk(jwk),
        }
    }
}

/// The promise of an operation.
///
/// # Errors
/// When there is no memory for it, too much is pending, or the script has to end.
pub(super) fn promise<'js>(ctx: &Ctx<'js>, step: std::result::Result<Step, Failure>) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    match step {
        Ok(Step::Done(made)) => settle(ctx, Ok(made), &resolve, &reject)?,
        Err(Failure::Crypto(error)) => settle(ctx, Err(error), &resolve, &reject)?,
        Err(Failure::Script(error)) if !error.is_exception() || Host::of(ctx).is_interrupted() => {
            return Err(error);
        }
        Err(Failure::Script(_)) => reject.call::<_, ()>((ctx.catch(),))?,
        // Nothing else runs in the init context, which cannot wait.
        Ok(Step::Slow(work)) if Host::of(ctx).stage() == Stage::Init => {
            settle(ctx, work(), &resolve, &reject)?;
        }
        Ok(Step::Slow(work)) => later(ctx, work, resolve, reject)?,
    }
    Ok(promise)
}

fn later<'js>(
    ctx: &Ctx<'js>,
    work: Box<dyn FnOnce() -> std::result::Result<Made, Error> + Send>,
    resolve: Function<'js>,
    reject: Function<'js>,
) -> Result<()> {
    let functions = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
    let work = tokio::task::spawn_blocking(work);
    let done = async move {
        let made = work.await;
        let made = made.unwrap_or_else(|error| Err(Kind::Operation.error(error.to_string())));
        Box::new(move |ctx: &Ctx<'_>| {
            let (resolve, reject) = functions;
            settle(ctx, made, &resolve.restore(ctx)?, &reject.restore(ctx)?)
        }) as Callback
    };
    Host::of(ctx).event(ctx, done).map(drop)
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    made: std::result::Result<Made, Error>,
    resolve: &Function<'js>,
    reject: &Function<'js>,
) -> Result<()> {
    match made {
        Ok(made) => resolve.call((value(ctx, made)?,)),
        Err(error) => reject.call((promises::error(ctx, error.kind.name(), &error.text)?,)),
    }
}

fn value<'js>(ctx: &Ctx<'js>, made: Made) -> Result<Value<'js>> {
    match made {
        Made::Bytes(made) => bytes::buffer(ctx, &made),
        Made::Truth(truth) => truth.into_js(ctx),
        Made::Key(key) => Ok(KeyObject::of(ctx, *key)?.into_value()),
        Made::Pair(pair) => {
            let (private, public) = *pair;
            let object = Object::new(ctx.clone())?;
            object.set("privateKey", KeyObject::of(ctx, private)?)?;
            object.set("publicKey", KeyObject::of(ctx, public)?)?;
            Ok(object.into_value())
        }
        Made::Jwk(jwk) => {
            let text = serde_json::to_string(&jwk);
            let text = text.map_err(|error| Exception::throw_internal(ctx, &error.to_string()))?;
            ctx.json_parse(text)
        }
    }
}
