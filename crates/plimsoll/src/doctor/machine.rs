//! The limits of this machine, compared with a number of clients.

use std::{fs, str::FromStr};

use plimsoll_load::preflight::{Memory, OpenFileLimit, PortRange, System};
use plimsoll_report::{quantity, readable::count};

use super::Check;

/// The server's memory of one subscribed idle client without TLS in bytes, as measured (README.md, What it costs).
const IDLE_CLIENT_BYTES: u64 = 1_900;

/// The queue of new connections that each listening socket of the server asks for (`BACKLOG` of its listener).
const QUEUE: u64 = 4_096;

/// What the machine allows. None where the kernel does not say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    open_files: OpenFileLimit,
    /// Files of the server that are not clients.
    reserved_files: u64,
    /// The highest limit of open files that any process may have (`fs.nr_open`).
    files_of_process: Option<u64>,
    /// The open files of all processes together (`fs.file-max`).
    files_of_machine: Option<u64>,
    /// The cap of queues of new connections (`net.core.somaxconn`).
    queue: Option<u64>,
    /// Connections that the firewall tracks: now, and at most (`nf_conntrack_max`).
    tracked: Option<(u64, u64)>,
    ports: Option<PortRange>,
    memory: Memory,
}

impl Machine {
    /// Reads the limits, and raises that of open files as the server does.
    pub(crate) fn read(reserved_files: u64) -> Self {
        let System { open_files, ports } = System::read();
        let tracked = "net/netfilter/nf_conntrack_";
        Self {
            open_files,
            reserved_files,
            files_of_process: kernel("fs/nr_open"),
            files_of_machine: kernel("fs/file-max"),
            queue: kernel("net/core/somaxconn"),
            tracked: kernel(&format!("{tracked}count")).zip(kernel(&format!("{tracked}max"))),
            ports,
            memory: Memory::read(),
        }
    }

    /// All checks. Without a number of clients they say what the limits allow.
    pub(crate) fn checks(&self, n_clients: Option<u64>) -> Vec<Check> {
        let checks = [
            Some(self.open_files(n_clients)),
            self.all_files(n_clients),
            self.queue(),
            self.tracked(n_clients),
            self.ports(n_clients),
            Some(self.memory(n_clients)),
        ];
        checks.into_iter().flatten().collect()
    }

    fn open_files(&self, n_clients: Option<u64>) -> Check {
        let soft = self.open_files.soft;
        let allowed = soft.saturating_sub(self.reserved_files);
        let finding = if soft == u64::MAX {
            "no limit".to_owned()
        } else {
            format!("the limit of {} allows {} clients", count(soft), count(allowed))
        };
        let Some(n_clients) = n_clients.filter(|&n| n > allowed) else {
            return Check::ok("open files", finding);
        };
        let needed = n_clients.saturating_add(self.reserved_files);
        let raise = match self.files_of_process {
            Some(most) if needed > most => format!("sysctl -w fs.nr_open={needed}, and then "),
            _ => String::new(),
        };
        let fix = format!(
            "{raise}LimitNOFILE={needed} in the systemd unit, docker run --ulimit nofile={needed}, or as root ulimit -n {needed}"
        );
        let finding = format!("{finding}; further ones are answered 503");
        Check::problem("open files", finding, Some(fix))
    }

    fn all_files(&self, n_clients: Option<u64>) -> Option<Check> {
        let most = self.files_of_machine?;
        let needed = n_clients.unwrap_or(0).saturating_add(self.reserved_files);
        let finding = format!("all programs together may open {}", count(most));
        Some(if needed > most {
            let fix = format!("sysctl -w fs.file-max={}", needed.saturating_mul(2));
            Check::problem("files of the machine", finding, Some(fix))
        } else if most > u64::from(u32::MAX) {
            Check::ok("files of the machine", "no limit that matters")
        } else {
            Check::ok("files of the machine", finding)
        })
    }

    fn queue(&self) -> Option<Check> {
        let queue = self.queue?;
        let finding = format!(
            "{} new connections can wait for each core",
            count(queue.min(QUEUE))
        );
        Some(if queue < QUEUE {
            let finding = format!("{finding}; when more connect at once, they try again a second later");
            let fix = format!("sysctl -w net.core.somaxconn={QUEUE}");
            Check::warning("connection queue", finding, Some(fix))
        } else {
            Check::ok("connection queue", finding)
        })
    }

    /// None without connection tracking.
    fn tracked(&self, n_clients: Option<u64>) -> Option<Check> {
        let (now, most) = self.tracked?;
        let finding = format!(
            "the firewall tracks {} connections of at most {}",
            count(now),
            count(most)
        );
        let needed = n_clients.unwrap_or(0).saturating_add(now);
        Some(if needed > most {
            let finding = format!("{finding}; the packets of further ones are dropped");
            let fix = format!(
                "sysctl -w net.netfilter.nf_conntrack_max={}",
                needed.saturating_mul(2)
            );
            Check::problem("tracked connections", finding, Some(fix))
        } else {
            Check::ok("tracked connections", finding)
        })
    }

    fn ports(&self, n_clients: Option<u64>) -> Option<Check> {
        let ports = self.ports?;
        let usable = ports.n_usable();
        let finding = format!(
            "ports {ports}: a proxy or load generator on this machine opens {} connections to the server from one address",
            count(usable)
        );
        Some(if n_clients.is_some_and(|n| n > usable) {
            let fix = "sysctl -w net.ipv4.ip_local_port_range='1024 65535', or several addresses of the server in the proxy";
            Check::warning("local ports", finding, Some(fix.to_owned()))
        } else {
            Check::ok("local ports", finding)
        })
    }

    fn memory(&self, n_clients: Option<u64>) -> Check {
        let Memory { available_bytes, .. } = self.memory;
        if available_bytes == u64::MAX {
            return Check::warning("memory", "unknown", None);
        }
        let free = format!("{} available", bytes(available_bytes));
        let Some(n_clients) = n_clients else {
            return Check::ok("memory", free);
        };
        let needed = n_clients.saturating_mul(IDLE_CLIENT_BYTES);
        let finding = format!(
            "{free}; {} idle clients need about {}, without the kernel's buffers, TLS and messages in flight",
            count(n_clients),
            bytes(needed)
        );
        if needed > available_bytes {
            Check::problem(
                "memory",
                finding,
                Some("use a machine or container with more memory".to_owned()),
            )
        } else {
            Check::ok("memory", finding)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn bytes(number: u64) -> String {
    quantity::bytes(number as f64)
}

/// A number below `/proc/sys`.
fn kernel(name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
    u64::from_str(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::diagnosis::State;

    fn machine() -> Machine {
        Machine {
            open_files: OpenFileLimit {
                soft_before: 1024,
                soft: 20_000,
                hard: 20_000,
            },
            reserved_files: 64,
            files_of_process: Some(100_000),
            files_of_machine: Some(150_000),
            queue: Some(128),
            tracked: Some((100, 65_536)),
            ports: Some(PortRange {
                first: 32_768,
                last: 60_999,
            }),
            memory: Memory {
                total_bytes: 1 << 30,
                available_bytes: 1 << 28,
            },
        }
    }

    #[test]
    fn limits_are_compared_with_the_clients() {
        use State::{Ok, Problem, Warning};
        let check = |n_clients: Option<u64>, expected: [State; 6]| {
            let checks = machine().checks(n_clients);
            let states: Vec<State> = checks.iter().map(|check| check.state).collect();
            assert_eq!(states, expected, "{n_clients:?}: {checks:#?}");
            for check in checks {
                assert_eq!(check.fix.is_some(), check.state != Ok, "{check:?}");
            }
        };
        check(None, [Ok, Ok, Warning, Ok, Ok, Ok]);
        check(Some(19_936), [Ok, Ok, Warning, Ok, Ok, Ok]);
        check(Some(19_937), [Problem, Ok, Warning, Ok, Ok, Ok]);
        check(Some(30_000), [Problem, Ok, Warning, Ok, Warning, Ok]);
        check(Some(65_437), [Problem, Ok, Warning, Problem, Warning, Ok]);
        check(
            Some(200_000),
            [Problem, Problem, Warning, Problem, Warning, Problem],
        );
    }

    #[test]
    fn a_fix_names_the_number() {
        let fix = |n_clients| machine().open_files(Some(n_clients)).fix.unwrap();
        assert!(fix(50_000).starts_with("LimitNOFILE=50064 "), "{}", fix(50_000));
        assert!(fix(100_000).starts_with("sysctl -w fs.nr_open=100064, and then LimitNOFILE=100064 "));
    }

    #[test]
    fn this_machine_can_be_read() {
        assert!(!Machine::read(64).checks(None).is_empty());
    }
}
