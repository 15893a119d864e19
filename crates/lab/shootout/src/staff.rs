//! The workers of a run, wherever they are: the way of orders to them, and the way of their events back.
//!
//! Each worker takes orders through a channel of its own, and posts events to a common one. The run knows these channels
//! and not what is behind them.

use std::{io, sync::Arc, thread::JoinHandle};

use tokio::sync::mpsc;

use crate::{
    fleet::WorkerLost,
    worker::{self, Event, Handle, Order, Setup},
};

/// Events that wait for the coordinator. When it is full the workers keep their events, which are bounded by the
/// orders.
pub(crate) const N_EVENTS: usize = 4096;

/// All workers of a run.
#[derive(Debug)]
pub(crate) struct Staff {
    /// The way to each worker, which ends when this is dropped.
    orders: Vec<mpsc::Sender<Order>>,
    events: mpsc::Receiver<Event>,
    /// The threads of the workers.
    threads: Vec<JoinHandle<()>>,
}

impl Staff {
    /// Starts `n_workers` threads.
    ///
    /// # Errors
    /// The system gives no thread or no event queue.
    pub(crate) fn threads(n_workers: usize, setup: &Arc<Setup>) -> io::Result<Self> {
        let (sender, events) = mpsc::channel(N_EVENTS);
        let start = |idx| worker::spawn(idx, Arc::clone(setup), sender.clone());
        let handles = (0..n_workers).map(start).collect::<io::Result<Vec<_>>>()?;
        let handles = handles
            .into_iter()
            .map(|Handle { orders, thread }| (orders, thread));
        let (orders, threads) = handles.unzip();
        Ok(Self {
            orders,
            events,
            threads,
        })
    }

    /// The number of workers.
    pub(crate) fn len(&self) -> usize {
        self.orders.len()
    }

    /// Gives an order to a worker.
    pub(crate) async fn order(&self, worker: usize, order: Order) -> Result<(), WorkerLost> {
        self.orders[worker].send(order).await.map_err(|_| WorkerLost)
    }

    /// The next event of any worker.
    pub(crate) async fn next_event(&mut self) -> Result<Event, WorkerLost> {
        self.events.recv().await.ok_or(WorkerLost)
    }

    /// Gives no further orders, so that all workers end. Returns their last events and their threads.
    pub(crate) fn dismiss(self) -> (mpsc::Receiver<Event>, Vec<JoinHandle<()>>) {
        (self.events, self.threads)
    }
}
