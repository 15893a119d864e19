//! InfluxDB 1: every sample as a point of its line protocol (docs/reference/outputs.md, `influxdb`).

use bytes::Bytes;
use plimsoll_load::metrics::Batch;

mod config;
mod line;

pub(crate) use self::config::InfluxDb;
use self::line::Lines;
use crate::{
    passing::Receiver,
    post::{Post, Refusal},
};

/// A database that takes points.
pub(crate) struct Database {
    write: Post,
    create: Post,
    lines: Lines,
    is_created: bool,
}

/// How often a batch is sent before it counts as lost.
const ATTEMPTS: usize = 3;

impl Database {
    pub(crate) fn new(config: InfluxDb) -> Self {
        let InfluxDb {
            write,
            create,
            headers,
            tls,
            fields,
            precision,
            ..
        } = config;
        Self {
            write: Post::new(write, headers.clone(), tls.clone(), config::REQUEST_LIMIT),
            create: Post::new(create, headers, tls, config::REQUEST_LIMIT),
            lines: Lines::new(fields, precision),
            is_created: false,
        }
    }

    async fn insist(&self, body: &Bytes) -> Result<(), String> {
        let mut n_left = ATTEMPTS;
        loop {
            let Refusal {
                is_temporary, reason, ..
            } = match self.write.send(body.clone()).await {
                Ok(_) => return Ok(()),
                Err(refusal) => refusal,
            };
            n_left -= 1;
            if !is_temporary || n_left == 0 {
                return Err(reason);
            }
        }
    }
}

impl Receiver for Database {
    async fn take(&mut self, batch: &Batch) -> Result<u64, String> {
        if !self.is_created {
            self.is_created = true;
            // The user may write to a database that exists without being allowed to make one.
            if let Err(refusal) = self.create.send(Bytes::new()).await {
                tracing::debug!(reason = refusal.reason, "The database was not created.");
            }
        }
        let (text, n_lines) = self.lines.of(batch);
        if n_lines > 0 {
            self.insist(&Bytes::from(text)).await?;
        }
        Ok(n_lines)
    }
}

#[cfg(test)]
mod tests;
