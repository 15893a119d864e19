//! Connecting the clients of a step: a sliding window, so that one slow handshake does not delay other clients.

use std::time::Instant;

use plimsoll_load::{causes::Causes, histogram::Histogram};
use plimsoll_report::Distribution;

use crate::{
    meter::Period,
    outcome::Connecting,
    run::{Run, RunError, Turn},
    samples::Samples,
    sink::Progress,
    window::Window,
    worker::Opening,
};

/// The results of connecting the clients of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ramp {
    /// The time from the TCP connect until the client was ready.
    pub(crate) samples: Samples,
    pub(crate) n_connected: u64,
    pub(crate) failures: Causes,
    pub(crate) total: Histogram,
    pub(crate) tcp_connect: Histogram,
    pub(crate) upgrade: Histogram,
    pub(crate) welcome: Histogram,
    pub(crate) subscribe: Histogram,
}

/// Connects `n_clients` more, `width` at a time. Ends early when the user wants it; those that are on their way then
/// are not counted.
pub(crate) async fn ramp(run: &mut Run<'_>, n_clients: usize, width: usize) -> Result<Ramp, RunError> {
    let mut window = Window::new(n_clients, width, run.command_delay());
    let mut ramp = Ramp::default();
    let mut n_done = 0;
    while !window.is_finished() && !run.interrupt.is_requested() {
        for _ in 0..window.admit(Instant::now(), || run.is_delayed()) {
            run.fleet.open_one().await?;
        }
        match run.turn(window.next_due()).await? {
            Turn::Opened(opening) => {
                ramp.add(&opening);
                run.note_opening(&opening);
                window.done();
                n_done += 1;
            }
            Turn::OpenFailed(failing) => {
                run.note_failed_opening(&failing);
                let at = run.started.elapsed();
                ramp.failures.add_as(&failing.cause, &failing.explained(), 1, at);
                window.done();
                n_done += 1;
            }
            _ => {}
        }
        let n_connected = run.fleet.n_connected();
        run.sink.progress(Progress::Connecting {
            n_done,
            n_total: n_clients,
            n_connected,
        });
    }
    Ok(ramp)
}

impl Ramp {
    /// The figures, with the cost of the ramp.
    pub(crate) fn account(self, period: Period) -> Connecting {
        Connecting {
            period,
            n_connected: self.n_connected,
            failures: self.failures,
            total: Distribution::from(&self.total),
            tcp_connect: Distribution::from(&self.tcp_connect),
            upgrade: Distribution::from(&self.upgrade),
            welcome: Distribution::from(&self.welcome),
            subscribe: Distribution::from(&self.subscribe),
        }
    }

    fn add(&mut self, opening: &Opening) {
        self.n_connected += 1;
        self.samples.push(opening.total);
        self.total.record(opening.total);
        self.tcp_connect.record(opening.tcp_connect);
        self.upgrade.record(opening.upgrade);
        opening.welcome.into_iter().for_each(|it| self.welcome.record(it));
        opening
            .subscribe
            .into_iter()
            .for_each(|it| self.subscribe.record(it));
    }
}
