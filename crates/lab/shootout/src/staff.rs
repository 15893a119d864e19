//! The workers of a run, wherever they are: the way of orders to them, and the way of their events back.
//!
//! A worker is a thread of this process, or a thread of an agent on another machine. The run does not know which: both
//! take the same orders through a channel of their own, and post the same events to a common one.

use std::{io, sync::Arc, thread::JoinHandle};

use tokio::sync::mpsc;

use crate::{
    fleet::WorkerLost,
    remote::Hub,
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
    /// The threads of this process.
    threads: Vec<JoinHandle<()>>,
    /// The agents that have the workers; `None` if they are in this process.
    hub: Option<Hub>,
}

impl Staff {
    /// Starts a thread for each of these numbers.
    ///
    /// # Errors
    /// The system gives no thread or no event queue.
    pub(crate) fn threads(numbers: impl Iterator<Item = usize>, setup: &Arc<Setup>) -> io::Result<Self> {
        let (sender, events) = mpsc::channel(N_EVENTS);
        let start = |idx| worker::spawn(idx, Arc::clone(setup), sender.clone());
        let handles = numbers.map(start).collect::<io::Result<Vec<_>>>()?;
        let handles = handles
            .into_iter()
            .map(|Handle { orders, thread }| (orders, thread));
        let (orders, threads) = handles.unzip();
        Ok(Self {
            orders,
            events,
            threads,
            hub: None,
        })
    }

    /// The workers of agents.
    pub(crate) fn agents(orders: Vec<mpsc::Sender<Order>>, events: mpsc::Receiver<Event>, hub: Hub) -> Self {
        Self {
            orders,
            events,
            threads: Vec::new(),
            hub: Some(hub),
        }
    }

    /// The agents that have the workers; `None` if they are in this process.
    pub(crate) fn hub(&self) -> Option<&Hub> {
        self.hub.as_ref()
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

    /// The next event, if there is one already.
    pub(crate) fn event_at_hand(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// Gives no further orders, so that all workers end. Returns their last events and their threads.
    pub(crate) fn dismiss(self) -> (mpsc::Receiver<Event>, Vec<JoinHandle<()>>) {
        (self.events, self.threads)
    }
}
