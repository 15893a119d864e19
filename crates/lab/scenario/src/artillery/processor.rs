//! The seam to the functions of a `processor`. A crate with a JavaScript engine implements it, so that this crate needs
//! none, and users whose scenario calls no function pay nothing.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    rc::{self, Rc},
    sync::{self, Arc},
};

use plimsoll_load::{metrics::Recorder, run::RunHandle};
use serde_json::Value;

use super::variables::Globals;

/// A module of functions, parsed and evaluated once.
pub trait Processor: fmt::Debug + Send + Sync {
    /// The names of its functions.
    fn functions(&self) -> Vec<&str>;

    /// Whether a word occurs in its source. Functions may set any variable and count under any name, so this is all
    /// that can be known of a name before the run.
    fn mentions(&self, word: &str) -> bool;

    /// The module, evaluated anew for users of this thread, who share its state like users of one worker of Artillery.
    ///
    /// # Errors
    /// The reason, for people.
    fn instance(&self) -> Result<Rc<dyn Instance>, String>;
}

/// A module, or the reason for people why there is none.
pub type Loaded = Result<Arc<dyn Processor>, String>;

/// The module on one thread.
pub trait Instance {
    /// What functions get as `context` of a user.
    fn guest(&self, introduction: Introduction) -> Box<dyn Guest>;
}

/// What a user brings along.
#[derive(Clone)]
pub struct Introduction {
    /// `context._uid`.
    pub uid: String,
    /// `context.scenario`, as JSON.
    pub scenario: Arc<str>,
    /// Variables that all users share.
    pub globals: Arc<Globals>,
    /// The recorder for metrics of functions.
    pub recorder: Recorder,
    /// The run, which ends when a function needs something that does not exist here.
    pub run: RunHandle,
}

/// One user, as seen by the functions. Its drop ends everything that a function has started, such as timers.
pub trait Guest {
    /// Calls a function. Several calls may be in progress.
    fn call(&self, call: Call) -> Pending<'_>;
}

/// A call in progress. Its drop ends the wait for the function.
///
/// The error is the value that the function threw or passed to `next`, or why it was ended, free of positions: it
/// becomes the name of a counter.
pub type Pending<'a> = Pin<Box<dyn Future<Output = Result<Returned, String>> + 'a>>;

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name.
    pub function: FunctionName,
    /// What it gets.
    pub arguments: Vec<Argument>,
    /// Variables of the user that were set since its last call.
    pub variables: Vec<(String, Value)>,
}

/// The name of a function.
pub type FunctionName = Arc<str>;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The parameters of a request or of a WebSocket, which the function may change.
    Parameters(Value),
    /// An answer.
    Response(Arc<Response>),
    /// Why a request failed.
    Error(String),
    /// The user.
    Context,
    /// The user's variables alone.
    Variables,
    /// The events object for metrics.
    Events,
    /// A function to call at the end, with an error if there was one. A function without it ends when it returns; and
    /// any function ends with the promise that it returns.
    Next,
    /// A function to call at the end, whose argument says whether to continue.
    Verdict,
}

/// An answer over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The server's reason phrase.
    pub reason: String,
    /// Its URL, after redirects.
    pub url: String,
    /// Header fields by their names in lower case. Repeated ones have several values.
    pub headers: BTreeMap<String, Vec<String>>,
    /// The body as text.
    pub body: String,
}

/// What a function has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Returned {
    /// Whether its return value, or the value passed to `next` after the error, counts as true.
    pub is_true: bool,
    /// The current [`Argument::Parameters`].
    pub parameters: Option<Value>,
    /// Variables of the user that it has set.
    pub variables: Vec<(String, Value)>,
}

/// The instance of this thread, shared by its users while any of them exists.
///
/// # Errors
/// The reason, for people.
pub(crate) fn of_thread(processor: &Arc<dyn Processor>) -> Result<Rc<dyn Instance>, String> {
    type Latest = (sync::Weak<dyn Processor>, rc::Weak<dyn Instance>);
    thread_local! {
        static LATEST: RefCell<Option<Latest>> = const { RefCell::new(None) };
    }
    let known = LATEST.with_borrow(|latest| {
        let (of, instance) = latest.as_ref()?;
        let is_same = of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, processor));
        instance.upgrade().filter(|_| is_same)
    });
    if let Some(instance) = known {
        return Ok(instance);
    }
    let instance = processor.instance()?;
    LATEST.set(Some((Arc::downgrade(processor), Rc::downgrade(&instance))));
    Ok(instance)
}
