//! Whether this machine has room for the clients, and from which addresses they connect.

use std::net::IpAddr;

use plimsoll_clients::websocket;
use plimsoll_load::preflight::{Needs, Problem, System, plan};

use super::RunError;

/// The limits of this machine towards one destination.
#[derive(Debug)]
pub(crate) struct Preflight {
    system: System,
    destination: IpAddr,
    /// The addresses of `--local-addr`.
    local_addresses: Vec<IpAddr>,
}

impl Preflight {
    /// Raises the limit of open files as far as it goes, and reads the rest.
    pub(crate) fn new(destination: IpAddr, local_addresses: &[IpAddr]) -> Self {
        Self {
            system: System::read(),
            destination,
            local_addresses: local_addresses.to_vec(),
        }
    }

    /// The obstacle to this number of clients, if any.
    pub(crate) fn check(&self, n_clients: usize) -> Result<(), RunError> {
        let mut problems = plan(&self.needs(n_clients), &self.system).problems;
        if let Some(ports) = self.system.ports.filter(|_| !self.local_addresses.is_empty()) {
            // The user's addresses count, not those that the plan would choose.
            let room = ports.n_usable().saturating_mul(self.local_addresses.len() as u64);
            problems.retain(|it| !matches!(it, Problem::Ports { .. }) || room < n_clients as u64);
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(RunError::Preflight(problems))
        }
    }

    /// One set of options per source address. `n_clients` is `None` for a run without a planned end, whose number of
    /// clients is limited only by the open files of this process.
    pub(crate) fn routes(
        &self,
        options: &websocket::Options,
        n_clients: Option<usize>,
    ) -> Vec<websocket::Options> {
        let most = usize::try_from(self.system.open_files.n_connections()).unwrap_or(usize::MAX);
        let planned = plan(&self.needs(n_clients.unwrap_or(most)), &self.system).source_addresses;
        let addresses = if self.local_addresses.is_empty() {
            planned
        } else {
            self.local_addresses.clone()
        };
        if addresses.is_empty() {
            return vec![options.clone()];
        }
        let with = |address| websocket::Options {
            local_address: Some(address),
            ..options.clone()
        };
        addresses.into_iter().map(with).collect()
    }

    fn needs(&self, n_clients: usize) -> Needs {
        Needs {
            n_connections: n_clients as u64,
            destination: self.destination,
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_clients::target::Target;

    use super::*;

    fn routes(n_clients: usize, local_addresses: &[&str]) -> Vec<Option<IpAddr>> {
        let local: Vec<_> = local_addresses.iter().map(|it| it.parse().unwrap()).collect();
        let destination = "127.0.0.1".parse().unwrap();
        let options = websocket::Options::new(Target::parse("ws://127.0.0.1/").unwrap(), vec![]);
        let routes = Preflight::new(destination, &local).routes(&options, Some(n_clients));
        routes.into_iter().map(|route| route.local_address).collect()
    }

    #[test]
    fn source_addresses_appear_when_ports_run_out() {
        assert_eq!(routes(10, &[]), [None]);
        let many = routes(100_000, &[]);
        assert!(many.len() > 1, "{many:?}");
        assert_eq!(many[1], Some("127.0.0.2".parse().unwrap()));
        assert_eq!(routes(10, &["127.0.0.9"]), [Some("127.0.0.9".parse().unwrap())]);
    }
}
