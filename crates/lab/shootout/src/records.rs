//! The memory of the exact account: a run knows to its end which client has which message.

use std::{mem::size_of, time::Duration};

use plimsoll_load::preflight::Records;

use crate::{ledger::Ledger, ledger::SendTable, options::Exchange, sampling::Messages};

/// The lists of times that a step's figures come from, per message: answers, deliveries, and begins and ends.
const BYTES_OF_FIGURES: usize = 8 * size_of::<Duration>();

impl Exchange {
    /// The records of all messages of a run with `n_steps` steps, at most `n_clients` clients, and no broadcast that arrives
    /// everywhere before the end.
    pub(crate) fn records(&self, n_steps: usize, n_clients: usize) -> Records {
        let bytes_each = Messages::BYTES_EACH
            + SendTable::BYTES_EACH
            + Ledger::BYTES_EACH * self.common.n_workers
            + BYTES_OF_FIGURES
            // One bit for each client that may have the message.
            + n_clients / 8;
        let n_messages = (self.model.n_messages() as u64).saturating_mul(n_steps as u64);
        Records {
            n_messages,
            bytes: n_messages.saturating_mul(bytes_each as u64),
        }
    }
}
