//! The part of an agent in a bench: what it must know, and its work.

use plimsoll_load::preflight::Records;
use serde::{Deserialize, Serialize};

use crate::{
    http,
    options::{Connect, Exchange},
    remote::{self, Post, of_clients},
};

/// A bench for its agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Clients of WebSockets, which the coordinator orders one by one.
    Clients(ClientJob),
    /// Requests of HTTP.
    Http(HttpJob),
}

/// Clients of WebSockets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientJob(remote::Job);

/// Requests of HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HttpJob(http::Job);

/// A run whose clients agents can have.
pub trait Shared {
    /// The clients for agents with so many threads each, which are then the threads of the run. `None`: the workload has no
    /// clients that agents could have.
    fn job(&mut self, n_workers: usize) -> Option<Job>;

    /// The bytes that agents get with the job.
    fn contents_of_job(&self) -> &[u8] {
        &[]
    }

    /// The number of threads that carry the clients; `None` if the workload has no clients that agents could have.
    fn n_workers(&self) -> Option<usize>;

    /// The records of single messages that each of so many agents keeps.
    fn records_of_agent(&self, n_agents: usize) -> Records;
}

/// The work of an agent.
#[derive(Debug)]
pub struct Deputy(Work);

#[derive(Debug)]
enum Work {
    Clients(Box<remote::Deputy>),
    Http(Box<http::Deputy>),
}

impl From<remote::Job> for Job {
    fn from(job: remote::Job) -> Self {
        Self::Clients(ClientJob(job))
    }
}

impl From<http::Job> for Job {
    fn from(job: http::Job) -> Self {
        Self::Http(HttpJob(job))
    }
}

impl Exchange {
    /// The clients for agents with so many threads each.
    pub(crate) fn job(&mut self, n_workers: usize) -> Job {
        self.common.n_workers = n_workers;
        remote::Job::new(&self.common, &self.steps, self.n_padding_bytes).into()
    }
}

impl Connect {
    /// The clients for agents with so many threads each.
    pub(crate) fn job(&mut self, n_workers: usize) -> Job {
        self.common.n_workers = n_workers;
        remote::Job::new(&self.common, &self.steps, 0).into()
    }
}

impl Job {
    /// The clients, or concurrent requests, of the agent number `instance` of `n_instances`: in the first step, and the
    /// largest planned number.
    pub fn n_own_clients(&self, instance: usize, n_instances: usize) -> (usize, usize) {
        match self {
            Self::Clients(ClientJob(job)) => {
                let (n_first, n_most) = job.n_clients();
                let own = |n_clients| of_clients(n_clients, instance, n_instances);
                (own(n_first), own(n_most))
            }
            Self::Http(HttpJob(job)) => {
                let n_lanes = job.n_own_lanes(instance, n_instances);
                (n_lanes, n_lanes)
            }
        }
    }
}

impl Deputy {
    /// Makes all checks that need no connection, and starts the workers of the agent number `instance` of `n_instances`.
    /// `contents` came with the job.
    ///
    /// # Errors
    /// The agent has no room for its clients, or cannot reach the servers, in words.
    pub async fn prepare(
        job: &Job,
        contents: &[u8],
        instance: usize,
        n_instances: usize,
    ) -> Result<Self, String> {
        Ok(Self(match job {
            Job::Clients(ClientJob(job)) => {
                let deputy = remote::Deputy::prepare(job, instance, n_instances).await?;
                Work::Clients(Box::new(deputy))
            }
            Job::Http(HttpJob(job)) => {
                let deputy = http::Deputy::prepare(job, contents, instance, n_instances).await?;
                Work::Http(Box::new(deputy))
            }
        }))
    }

    /// Works until the coordinator needs nothing more. Returns early when the coordinator is gone.
    ///
    /// # Errors
    /// An order that makes no sense, or a worker that is gone, in words.
    pub async fn serve(self, post: Post) -> Result<(), String> {
        match self.0 {
            Work::Clients(deputy) => deputy.serve(post).await,
            Work::Http(deputy) => deputy.serve(post).await,
        }
    }
}
