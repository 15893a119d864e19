//! The functions of a processor from a user's side.

use std::cell::RefCell;

use super::{
    failure::Failure,
    processor::{Argument, Call, FunctionName, Guest, Instance, Introduction, Returned},
    program::ScenarioFlow,
    variables::Variables,
};
use plimsoll_load::{metrics::Recorder, run::RunHandle};

/// Calls functions for one user, and keeps the variables of both sides equal.
pub(crate) struct Caller(Box<dyn Guest>);

impl Caller {
    /// For a user of this scenario; `None` when it calls no function.
    pub(crate) fn new(
        instance: Option<&dyn Instance>,
        scenario: &ScenarioFlow,
        variables: &Variables,
        (recorder, run): (&Recorder, &RunHandle),
    ) -> Option<Self> {
        let specification = scenario.specification.clone()?;
        let uid = variables.get("$uuid").and_then(serde_json::Value::as_str);
        Some(Self(instance?.guest(Introduction {
            uid: uid.unwrap_or_default().to_owned(),
            scenario: specification,
            globals: variables.shared_globals().clone(),
            recorder: recorder.clone(),
            run: run.clone(),
        })))
    }

    /// Calls a function and waits for its end.
    pub(crate) async fn call(
        &self,
        function: &FunctionName,
        arguments: Vec<Argument>,
        variables: &RefCell<Variables>,
    ) -> Result<Returned, Failure> {
        let call = Call {
            function: function.clone(),
            arguments,
            variables: variables.borrow_mut().tell(),
        };
        let mut returned = self.0.call(call).await.map_err(Failure::new)?;
        variables
            .borrow_mut()
            .hear(std::mem::take(&mut returned.variables));
        Ok(returned)
    }

    /// Calls functions whose only argument is the user, one after another.
    pub(crate) async fn call_all(
        &self,
        functions: &[FunctionName],
        variables: &RefCell<Variables>,
    ) -> Result<(), Failure> {
        for function in functions {
            let arguments = vec![Argument::Context, Argument::Events, Argument::Next];
            self.call(function, arguments, variables).await?;
        }
        Ok(())
    }
}
