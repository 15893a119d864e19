//! The functions that scripts call.

use std::{cell::RefCell, rc::Rc, time::SystemTime};

use plimsoll_fake::{Function as Fake, Generator, catalog};
use plimsoll_load::nearest::nearest;
use rquickjs::{
    Ctx, Exception, Function, Result, Value,
    function::{Opt, Rest},
};

use super::conversion::{argument, value_of};
use crate::arguments::Text;

/// The method that finds a function by its name.
pub(super) const CALL: &str = "call";

/// A generator that a Faker and its functions share.
pub(super) type Shared = Rc<RefCell<Generator>>;

/// A function that keeps its generator, so that a script may pass it on.
pub(super) fn bound<'js>(ctx: &Ctx<'js>, fake: &'static Fake, generator: Shared) -> Result<Value<'js>> {
    let call = move |ctx: Ctx<'js>, given: Rest<Value<'js>>| invoke(&ctx, fake, &generator, &given);
    let function = Function::new(ctx.clone(), call)?.with_name(fake.name)?;
    Ok(function.into_value())
}

/// `call(name, ...arguments)`.
pub(super) fn call<'js>(ctx: &Ctx<'js>, generator: Shared) -> Result<Value<'js>> {
    let call = move |ctx: Ctx<'js>, name: Opt<Text>, given: Rest<Value<'js>>| {
        let name = name.0.map_or(String::new(), |name| name.0);
        let fake = catalog::function(&name).ok_or_else(|| unknown(&ctx, &name))?;
        invoke(&ctx, fake, &generator, &given)
    };
    let function = Function::new(ctx.clone(), call)?.with_name(CALL)?;
    Ok(function.into_value())
}

fn unknown(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    let next = match nearest(name, catalog::functions().map(|function| function.name)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "expected the name of a function, for example \"firstName\"".to_owned(),
    };
    let shown: String = name.chars().take(60).collect();
    Exception::throw_type(ctx, &format!("call() knows no function `{shown}`; {next}"))
}

fn invoke<'js>(
    ctx: &Ctx<'js>,
    fake: &'static Fake,
    generator: &Shared,
    given: &[Value<'js>],
) -> Result<Value<'js>> {
    let given = given.iter().zip(fake.parameters);
    // Converting calls the script, which may draw other values.
    let given: Vec<_> = given
        .map(|(value, parameter)| argument(ctx, value, fake.name, parameter.name))
        .collect::<Result<_>>()?;
    let made = {
        let mut generator = generator.borrow_mut();
        generator.set_time(SystemTime::now());
        fake.call(&mut generator, &given)
    };
    let made = made.map_err(|refusal| Exception::throw_type(ctx, &refusal.to_string()))?;
    value_of(ctx, made)
}
