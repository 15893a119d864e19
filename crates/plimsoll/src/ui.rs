//! `plimsoll ui`: the runs of this machine in a browser of this machine: listed, filtered, opened, compared.

use std::{
    io::{self, Write},
    sync::Arc,
};

use clap::Parser;
use tokio::{net::TcpListener, task::LocalSet};

use crate::{
    exit::{Failure, Status},
    runs,
    signals::Signals,
    surroundings::Surroundings,
};

mod kept;
mod pages;
mod question;
mod serving;
mod site;

use self::site::Site;

const EXAMPLES: &str = "\
Examples:
  plimsoll ui                                 prints the address of the page; Ctrl-C stops it
  plimsoll ui --port 5665                     always on the same port
  PLIMSOLL_DATA_DIR=/mnt/ci/runs plimsoll ui  the runs of another folder

The page works only in browsers on this machine. From another machine: ssh -L 5665:localhost:5665 HOST, and then
open the address that `plimsoll ui --port 5665` printed there.";

/// Pages that are made at the same time; others wait. Reason: one person looks at one, and a comparison of twelve large runs
/// takes a hundred megabytes.
const MAX_PAGES: usize = 2;

/// Show the saved runs of this machine in a browser: list, filter, open and compare them.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Serve on this port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let folder = runs::folder(surroundings)?;
        let listener = plimsoll_loopback::listen(&format!("127.0.0.1:{}", self.port))
            .map_err(|error| Failure::Usage(format!("--port {}: {error}", self.port)))?;
        let site = Site {
            address: listener.local_addr()?,
            secret: plimsoll_loopback::secret()?,
            folder,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MAX_PAGES)
            .build()?;
        LocalSet::new().block_on(&runtime, serve(listener, Arc::new(site)))
    }
}

/// Serves until a signal.
async fn serve(listener: std::net::TcpListener, site: Arc<Site>) -> Result<Status, Failure> {
    let signals = Signals::listen()?;
    let listener = TcpListener::from_std(listener)?;
    let (folder, address, secret) = (site.folder.display(), site.address, &site.secret);
    writeln!(io::stdout(), "Runs in {folder}: http://{address}/{secret}/")?;
    tokio::select! {
        () = serving::serve(listener, site) => {}
        () = signals.received(1) => {}
    }
    Ok(Status::Success)
}
