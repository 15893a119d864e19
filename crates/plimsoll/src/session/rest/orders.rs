//! Orders of a controller: `PATCH /v1/status` (docs/reference/run.md, REST interface).

use plimsoll_load::run::{Control, ControlError, State};
use serde_json::Value;
use tokio::sync::watch;

/// Where orders go.
#[derive(Clone, Debug)]
pub(in crate::session) struct Orders {
    control: Control,
    stop: watch::Sender<bool>,
}

/// Why an order is not carried out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OrderError {
    /// It is not one.
    #[error(
        "{0}; expected something like {{\"data\": {{\"type\": \"status\", \"id\": \"default\", \"attributes\": \
         {{\"paused\": true}}}}}}"
    )]
    Unreadable(String),
    /// The run cannot do it.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A run that ended does not begin again.
    #[error("a stopped run cannot be resumed")]
    Stopped,
}

/// What is to be; `None` is as it is.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wish {
    paused: Option<bool>,
    stopped: Option<bool>,
    vus: Option<u32>,
    max_vus: Option<u32>,
}

impl Orders {
    pub(in crate::session) fn new(control: Control) -> Self {
        Self {
            control,
            stop: watch::Sender::new(false),
        }
    }

    /// What the engine is told.
    pub(super) fn state(&self) -> State {
        self.control.state()
    }

    /// Whether the run was told to stop.
    pub(in crate::session) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits until the run is told to stop.
    pub(in crate::session) async fn stopped(&self) {
        // The sender is this very value, so it is not gone.
        drop(self.stop.subscribe().wait_for(|stopped| *stopped).await);
    }

    /// Carries out the order in a body.
    pub(super) fn take(&self, body: &[u8]) -> Result<(), OrderError> {
        let wish = Wish::read(body)?;
        if wish.vus.is_some() || wish.max_vus.is_some() {
            self.control.scale(wish.vus, wish.max_vus)?;
        }
        match wish.paused {
            Some(true) if !self.control.state().is_paused => self.control.pause()?,
            Some(false) => self.control.resume(),
            _ => {}
        }
        match wish.stopped {
            Some(false) if self.is_stopped() => Err(OrderError::Stopped),
            Some(true) => {
                self.stop.send_replace(true);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Wish {
    fn read(body: &[u8]) -> Result<Self, OrderError> {
        let unreadable = |problem: &str| OrderError::Unreadable(problem.to_owned());
        let document: Value = serde_json::from_slice(body)
            .map_err(|error| unreadable(&format!("the body is not JSON: {error}")))?;
        let attributes = document
            .pointer("/data/attributes")
            .and_then(Value::as_object)
            .ok_or_else(|| unreadable("`data.attributes` is missing"))?;
        let mut wish = Self::default();
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_null()) {
            let wrong = |expected: &str| unreadable(&format!("`{name}`: expected {expected}, found {value}"));
            let switch = || value.as_bool().ok_or_else(|| wrong("true or false"));
            let number = || {
                let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
                number.ok_or_else(|| wrong("a whole number"))
            };
            match name.as_str() {
                "paused" => wish.paused = Some(switch()?),
                "stopped" => wish.stopped = Some(switch()?),
                "vus" => wish.vus = Some(number()?),
                "vus-max" => wish.max_vus = Some(number()?),
                // What only the run itself says; k6's client sends it along.
                "status" | "running" | "tainted" => {}
                _ => return Err(unreadable(&format!("there is no attribute `{name}`"))),
            }
        }
        Ok(wish)
    }
}
