//! Functions, texts and objects of the host that come into being when a script first asks for them.
//!
//! A function object takes 250 bytes of every virtual user, and a script calls a handful of the hundreds that the host
//! offers. So the host describes its members once per process, in tables. The engine keeps a reference to the line of the
//! table in the property, 28 bytes, and makes the value at the first access of any kind, as it does for its own
//! functions. A script cannot tell the difference: the property has its flags and its place from the beginning.
//!
//! Values that the engine makes are its own kind of function, which calls a C function. Such a function gets at its
//! arguments through the one function of the library that all of them share, the [`Gate`]. That detour takes some 50 ns
//! per call. In return, even a used function takes only 112 bytes.

#![expect(
    unsafe_code,
    reason = "the library has no safe interface for properties that the engine makes at the first access"
)]

use std::{
    cell::Cell,
    ffi::CStr,
    ptr::{self, NonNull},
};

use rquickjs::{
    Class, Ctx, Error, Exception, IntoJs, JsLifetime, Object, Result, Value,
    class::{JsClass, OwnedBorrow},
    function::{FromParams, IntoJsFunc, ParamRequirement, Params, RustFunction, This},
    qjs,
};

use crate::context_data;

/// A host function with its arguments still in the engine's form.
type Call = for<'a, 'js> fn(Params<'a, 'js>) -> Result<Value<'js>>;

/// A host function that has a type of its own, so that C can call it without data.
pub(crate) trait Callable {
    /// Calls it.
    ///
    /// # Errors
    /// What it throws.
    fn call<'js>(params: Params<'_, 'js>) -> Result<Value<'js>>;

    /// The number of arguments that a call must have: `length` of the function.
    fn length() -> usize;
}

/// What scripts may do to a property.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// All: a property as of an assignment.
    Assigned,
    /// All but listing it: a method of a class.
    Method,
}

impl Access {
    fn flags(self) -> u8 {
        let flags = match self {
            Self::Assigned => qjs::JS_PROP_C_W_E,
            Self::Method => qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE,
        };
        flags as u8
    }
}

/// One property.
pub(crate) struct Member(qjs::JSCFunctionListEntry);

/// The properties of an object.
pub(crate) struct Members(Box<[qjs::JSCFunctionListEntry]>);

// SAFETY: the pointers in the entries lead to constants: names, texts, functions and other tables. Nothing is changed.
unsafe impl Send for Members {}
// SAFETY: as for `Send`.
unsafe impl Sync for Members {}

impl Member {
    /// A function.
    pub(crate) fn function<F: Callable>(name: &'static CStr, access: Access) -> Self {
        Self::callable::<F>(name, access, qjs::JSCFunctionEnum_JS_CFUNC_generic)
    }

    /// A function that can also be called with `new`.
    pub(crate) fn constructor<F: Callable>(name: &'static CStr, access: Access) -> Self {
        Self::callable::<F>(name, access, qjs::JSCFunctionEnum_JS_CFUNC_constructor_or_func)
    }

    fn callable<F: Callable>(name: &'static CStr, access: Access, protocol: qjs::JSCFunctionEnum) -> Self {
        let func = qjs::JSCFunctionListEntry__bindgen_ty_1__bindgen_ty_1 {
            length: F::length() as u8,
            cproto: protocol as u8,
            cfunc: qjs::JSCFunctionType {
                generic: Some(enter::<F>),
            },
        };
        let value = qjs::JSCFunctionListEntry__bindgen_ty_1 { func };
        Self::entry(name, access.flags(), qjs::JS_DEF_CFUNC, value)
    }

    /// An accessor that scripts can neither list nor change, as classes of the library have them. Its function exists
    /// from the beginning.
    pub(crate) fn getter<F: Callable>(name: &'static CStr) -> Self {
        let getset = qjs::JSCFunctionListEntry__bindgen_ty_1__bindgen_ty_2 {
            get: qjs::JSCFunctionType {
                getter: Some(enter_getter::<F>),
            },
            set: qjs::JSCFunctionType { setter: None },
        };
        let value = qjs::JSCFunctionListEntry__bindgen_ty_1 { getset };
        Self::entry(name, 0, qjs::JS_DEF_CGETSET, value)
    }

    /// A text.
    pub(crate) fn text(name: &'static CStr, text: &'static CStr) -> Self {
        let value = qjs::JSCFunctionListEntry__bindgen_ty_1 { str_: text.as_ptr() };
        Self::entry(name, Access::Assigned.flags(), qjs::JS_DEF_PROP_STRING, value)
    }

    /// An object with these members.
    pub(crate) fn object(name: &'static CStr, members: &'static Members) -> Self {
        let prop_list = qjs::JSCFunctionListEntry__bindgen_ty_1__bindgen_ty_4 {
            tab: members.0.as_ptr(),
            len: members.0.len() as qjs::c_int,
        };
        let value = qjs::JSCFunctionListEntry__bindgen_ty_1 { prop_list };
        Self::entry(name, Access::Assigned.flags(), qjs::JS_DEF_OBJECT, value)
    }

    fn entry(
        name: &'static CStr,
        prop_flags: u8,
        kind: u32,
        u: qjs::JSCFunctionListEntry__bindgen_ty_1,
    ) -> Self {
        Self(qjs::JSCFunctionListEntry {
            name: name.as_ptr(),
            prop_flags,
            def_type: kind as u8,
            magic: 0,
            u,
        })
    }
}

impl Members {
    /// The members in the order in which scripts see them.
    pub(crate) fn new(members: Vec<Member>) -> Self {
        Self(members.into_iter().map(|member| member.0).collect())
    }

    /// Gives an object these members. It must not have any of them yet.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn define(&'static self, object: &Object<'_>) -> Result<()> {
        let ctx = object.ctx();
        Gate::install(ctx)?;
        let was_thrown = ctx.has_exception();
        // SAFETY: the object lives in the context. The table is constant and lives as long as the process, so properties
        // may refer to it.
        let result = unsafe {
            qjs::JS_SetPropertyFunctionList(
                ctx.as_raw().as_ptr(),
                object.as_raw(),
                self.0.as_ptr(),
                self.0.len() as qjs::c_int,
            )
        };
        // The engine does not say when it had no memory for a property.
        if result < 0 || !was_thrown && ctx.has_exception() {
            return Err(Error::Exception);
        }
        Ok(())
    }
}

/// The way from C to the arguments in the library's form, which only functions of the library get.
struct Gate<'js> {
    /// Calls `next`.
    function: Object<'js>,
    /// The function that is being called. It is kept per runtime, because before the gate looks at it, another runtime of the
    /// thread may have its turn.
    next: Cell<Option<Call>>,
}

// SAFETY: the lifetime is that of the function; `Call` has none.
unsafe impl<'js> JsLifetime<'js> for Gate<'js> {
    type Changed<'to> = Gate<'to>;
}

impl<'js> Gate<'js> {
    /// Makes the gate of a context, if it has none yet.
    fn install(ctx: &Ctx<'js>) -> Result<()> {
        // SAFETY: the caller uses the context.
        if unsafe { Self::of(ctx.as_raw()) }.is_some() {
            return Ok(());
        }
        if ctx.userdata::<Self>().is_none() {
            let function = Class::instance(ctx.clone(), RustFunction(Box::new(pass)))?;
            let gate = Self {
                function: function.into_inner(),
                next: Cell::new(None),
            };
            context_data::store(ctx, gate)?;
        }
        let gate = ctx.userdata::<Self>().ok_or(Error::Unknown)?;
        // SAFETY: the context is in use, and neither the library nor this crate uses the place for anything else.
        unsafe { qjs::JS_SetContextOpaque(ctx.as_raw().as_ptr(), ptr::from_ref(&*gate).cast_mut().cast()) };
        Ok(())
    }

    /// The gate of a context, found without a search.
    ///
    /// # Safety
    /// The context is in use.
    unsafe fn of<'a>(ctx: NonNull<qjs::JSContext>) -> Option<&'a Self> {
        // SAFETY: only `install` sets the pointer. It leads into the data of the runtime, which has a place of its own in
        // memory and stays until the runtime calls no function any more.
        unsafe { qjs::JS_GetContextOpaque(ctx.as_ptr()).cast::<Self>().as_ref() }
    }
}

/// The function of the gate.
fn pass<'js>(params: Params<'_, 'js>) -> Result<Value<'js>> {
    // SAFETY: the engine is calling with this context.
    let gate = unsafe { Gate::of(params.ctx().as_raw()) };
    let next = gate.and_then(|gate| gate.next.take());
    match next {
        Some(call) => call(params),
        None => Err(Exception::throw_internal(
            params.ctx(),
            "a function of the host is missing",
        )),
    }
}

/// The C function of a host function.
unsafe extern "C" fn enter<F: Callable>(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    n_arguments: qjs::c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine calls, with what it hands to every C function.
    unsafe { call(ctx, F::call, this, n_arguments, arguments) }
}

/// The C function of a getter.
unsafe extern "C" fn enter_getter<F: Callable>(ctx: *mut qjs::JSContext, this: qjs::JSValue) -> qjs::JSValue {
    // SAFETY: the engine calls, with what it hands to every getter.
    unsafe { call(ctx, F::call, this, 0, ptr::null_mut()) }
}

/// Calls a host function through the gate.
///
/// # Safety
/// The engine is calling a C function with this context and these arguments.
unsafe fn call(
    raw: *mut qjs::JSContext,
    function: Call,
    this: qjs::JSValue,
    n_arguments: qjs::c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine is calling with this context.
    let Some(gate) = NonNull::new(raw).and_then(|context| unsafe { Gate::of(context) }) else {
        return qjs::JS_EXCEPTION;
    };
    gate.next.set(Some(function));
    // SAFETY: the gate's function lives as long as its runtime; the rest is the engine's own.
    unsafe { qjs::JS_Call(raw, gate.function.as_raw(), this, n_arguments, arguments) }
}

/// Calls a function as [`rquickjs::Function::new`] would. For the macro [`members`].
///
/// # Errors
/// Arguments are missing or have other types, or the function throws.
pub(crate) fn call_function<'js, P, F: IntoJsFunc<'js, P>>(
    function: &F,
    params: Params<'_, 'js>,
) -> Result<Value<'js>> {
    params.check_params(F::param_requirements())?;
    function.call(params)
}

/// The `length` of a function.
pub(crate) fn length_of_function<'js, P, F: IntoJsFunc<'js, P>>(_: &F) -> usize {
    F::param_requirements().min()
}

/// A method in Rust: a function of an instance of `C`, and of arguments.
pub(crate) trait Method<'js, C, P> {
    /// The arguments that it needs.
    fn requirement() -> ParamRequirement;

    /// Calls it.
    ///
    /// # Errors
    /// `this` is not an instance, arguments have other types, or the method throws.
    fn call(&self, params: Params<'_, 'js>) -> Result<Value<'js>>;
}

macro_rules! methods {
    ($($type:ident $argument:ident),*) => {
        impl<'js, C, R, F $(, $type)*> Method<'js, C, ($($type,)*)> for F
        where
            C: JsClass<'js> + 'js,
            F: Fn(&C $(, $type)*) -> R,
            R: IntoJs<'js>,
            (This<OwnedBorrow<'js, C>>, $($type,)*): FromParams<'js>,
        {
            fn requirement() -> ParamRequirement {
                <(This<OwnedBorrow<'js, C>>, $($type,)*)>::param_requirements()
            }

            fn call(&self, params: Params<'_, 'js>) -> Result<Value<'js>> {
                let ctx = params.ctx().clone();
                params.check_params(Self::requirement())?;
                let (this, $($argument,)*) = FromParams::from_params(&mut params.access())?;
                let this: This<OwnedBorrow<'js, C>> = this;
                self(&this.0 $(, $argument)*).into_js(&ctx)
            }
        }
    };
}

methods!();
methods!(A a);
methods!(A a, B b);
methods!(A a, B b, D d);
methods!(A a, B b, D d, E e);
methods!(A a, B b, D d, E e, G g);

/// Calls a method. For the macro [`members`].
///
/// # Errors
/// As for [`Method::call`].
pub(crate) fn call_method<'js, C, P, F: Method<'js, C, P>>(
    method: &F,
    params: Params<'_, 'js>,
) -> Result<Value<'js>> {
    method.call(params)
}

/// The `length` of a method.
pub(crate) fn length_of_method<'js, C, P, F: Method<'js, C, P>>(_: &F) -> usize {
    F::requirement().min()
}

/// A table of members, made at its first use: `members![function c"get" => get]`. Each line has a kind, a name, and the
/// Rust function or value:
///
/// - `function`, `constructor`: a Rust function with the arguments of the JavaScript function;
/// - `method C`, `getter C`: a method of the class `C`, for its prototype;
/// - `text`: a constant; `object`: another table.
macro_rules! members {
    ($($kind:ident $($class:ident)? $name:literal => $value:expr),* $(,)?) => {{
        static MEMBERS: std::sync::LazyLock<$crate::members::Members> = std::sync::LazyLock::new(|| {
            $crate::members::Members::new(vec![$($crate::members::member!($kind $($class)? $name => $value)),*])
        });
        let members: &'static $crate::members::Members = &MEMBERS;
        members
    }};
}

/// One line of [`members`].
macro_rules! member {
    (function $name:literal => $function:expr) => {{
        $crate::members::callable!(Function: $crate::members::call_function, $crate::members::length_of_function, $function);
        $crate::members::Member::function::<Function>($name, $crate::members::Access::Assigned)
    }};
    (constructor $name:literal => $function:expr) => {{
        $crate::members::callable!(Function: $crate::members::call_function, $crate::members::length_of_function, $function);
        $crate::members::Member::constructor::<Function>($name, $crate::members::Access::Assigned)
    }};
    (method $class:ident $name:literal => $method:expr) => {{
        $crate::members::callable!(Function: $crate::members::call_method::<$class, _, _>, $crate::members::length_of_method::<$class, _, _>, $method);
        $crate::members::Member::function::<Function>($name, $crate::members::Access::Method)
    }};
    (getter $class:ident $name:literal => $method:expr) => {{
        $crate::members::callable!(Function: $crate::members::call_method::<$class, _, _>, $crate::members::length_of_method::<$class, _, _>, $method);
        $crate::members::Member::getter::<Function>($name)
    }};
    (text $name:literal => $text:expr) => {
        $crate::members::Member::text($name, $text)
    };
    (object $name:literal => $members:expr) => {
        $crate::members::Member::object($name, $members)
    };
}

/// A type for a Rust function, with the functions of this file that call and measure it.
macro_rules! callable {
    ($type:ident: $call:expr, $length:expr, $function:expr) => {
        struct $type;
        impl $crate::members::Callable for $type {
            fn call<'js>(
                params: rquickjs::function::Params<'_, 'js>,
            ) -> rquickjs::Result<rquickjs::Value<'js>> {
                ($call)(&$function, params)
            }

            fn length() -> usize {
                ($length)(&$function)
            }
        }
    };
}

/// Gives a class these members, in the place of `#[rquickjs::methods]`: `class_members![Client: method c"loop" => repeat]`.
macro_rules! class_members {
    ($class:ident$(<$lifetime:lifetime>)?: $($kind:ident $name:literal => $method:ident),* $(,)?) => {
        impl$(<$lifetime>)? rquickjs::class::impl_::MethodImplementor<$class$(<$lifetime>)?>
            for rquickjs::class::impl_::MethodImpl<$class$(<$lifetime>)?>
        {
            fn implement(&self, prototype: &rquickjs::Object<'_>) -> rquickjs::Result<()> {
                $crate::members::members![$($kind $class $name => $class::$method),*].define(prototype)
            }
        }
    };
}

pub(crate) use {callable, class_members, member, members};

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "the library hands functions of scripts their arguments as values"
)]
mod tests;
