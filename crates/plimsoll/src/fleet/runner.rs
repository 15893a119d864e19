//! Carries out an agent's part of a run.

use plimsoll_fleet::{Task, Workshop};
use plimsoll_script::Redaction;

use super::Package;
use crate::{bench, run, surroundings::Surroundings};

/// Makes the load of packages.
#[derive(Debug)]
pub(super) struct Runner {
    /// The texts that the log does not show: the secrets of the latest run.
    pub(super) redaction: Redaction,
}

impl Workshop for Runner {
    async fn work(&self, mut task: Task) {
        self.redaction.forget();
        let surroundings = Surroundings::of_process();
        match Package::read(&task.package) {
            Ok((Package::Script(package), archive)) => {
                run::take_part_in_script(&package, archive, &task, &surroundings, &self.redaction).await;
            }
            Ok((Package::Artillery(package), contents)) => {
                run::take_part_in_artillery(&package, contents, &task, &surroundings).await;
            }
            Ok((Package::Bench(package), contents)) => {
                let contents = contents.to_vec();
                bench::take_part(&package, &contents, &mut task).await;
            }
            Ok((Package::Wsdirector(package), text)) => {
                run::take_part_in_wsdirector(&package, text, &task).await;
            }
            Err(problem) => task.duty.refuse(problem, false).await,
        }
    }
}
