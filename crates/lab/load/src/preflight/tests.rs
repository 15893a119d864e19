//! Plans for machines with different limits.

use std::net::{Ipv4Addr, Ipv6Addr};

use expect_test::{Expect, expect};

use super::*;

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const LINUX: System = System {
    open_files: OpenFileLimit {
        soft_before: 1024,
        soft: 1_000_000,
        hard: 1_000_000,
    },
    ports: Some(PortRange {
        first: 32_768,
        last: 60_999,
    }),
};

fn sources(n_connections: u64, destination: IpAddr) -> Vec<String> {
    let plan = plan(
        &Needs {
            n_connections,
            destination,
        },
        &LINUX,
    );
    assert_eq!(plan.problems, []);
    plan.source_addresses.iter().map(ToString::to_string).collect()
}

#[test]
fn loopback_spreads_over_as_many_addresses_as_it_needs() {
    let elsewhere = IpAddr::from([192, 0, 2, 1]);
    for (n_connections, destination, expected) in [
        (0, LOCALHOST, &[][..]),
        (25_409, LOCALHOST, &[]),
        (25_409, elsewhere, &[]),
        (25_410, LOCALHOST, &["127.0.0.1", "127.0.0.2"]),
        (
            60_000,
            IpAddr::from([127, 0, 0, 53]),
            &["127.0.0.1", "127.0.0.2", "127.0.0.3"],
        ),
        (
            60_000,
            Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(),
            &["127.0.0.1", "127.0.0.2", "127.0.0.3"],
        ),
    ] {
        assert_eq!(
            sources(n_connections, destination),
            expected,
            "{n_connections} to {destination}"
        );
    }
}

fn check(needs: &Needs, system: &System, expected: &Expect) {
    let problems = plan(needs, system).problems;
    expected.assert_eq(
        &problems
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n"),
    );
}

#[test]
fn too_few_files_are_explained() {
    let open_files = OpenFileLimit {
        soft_before: 1024,
        soft: 20_000,
        hard: 20_000,
    };
    let system = System { open_files, ..LINUX };
    assert_eq!(open_files.n_connections(), 19_936);
    check(
        &Needs {
            n_connections: 19_936,
            destination: LOCALHOST,
        },
        &system,
        &expect![""],
    );
    check(
        &Needs {
            n_connections: 19_937,
            destination: LOCALHOST,
        },
        &system,
        &expect![
            "19937 connections need 20001 open files, but this process may open at most 20000; raise the hard limit \
             first (`ulimit -Hn 20001` as root, `nofile` in /etc/security/limits.conf, or `docker run --ulimit \
             nofile=20001`), or use fewer connections"
        ],
    );
}

#[test]
fn too_few_ports_elsewhere_are_explained() {
    check(
        &Needs {
            n_connections: 30_000,
            destination: IpAddr::from([192, 0, 2, 1]),
        },
        &LINUX,
        &expect![[
            r#"30000 connections to 192.0.2.1 need 2 source addresses, because each has only 25409 usable local ports (32768 to 60999); add more addresses of this machine with `--local-addr A,B,…`, or widen the range: `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`"#
        ]],
    );
    let v6 = Needs {
        n_connections: 30_000,
        destination: Ipv6Addr::LOCALHOST.into(),
    };
    assert!(matches!(
        plan(&v6, &LINUX).problems[..],
        [Problem::Ports { n_addresses: 2, .. }]
    ));
}

#[test]
fn an_absurd_wish_is_a_problem_and_not_a_huge_plan() {
    let plan = plan(
        &Needs {
            n_connections: u64::MAX,
            destination: LOCALHOST,
        },
        &LINUX,
    );
    assert_eq!((plan.problems.len(), plan.source_addresses.len()), (2, 0));
}

#[test]
fn unknown_ports_are_not_planned() {
    let system = System { ports: None, ..LINUX };
    assert_eq!(
        plan(
            &Needs {
                n_connections: 100_000,
                destination: LOCALHOST
            },
            &system
        ),
        Plan::default()
    );
}

#[test]
fn reads_the_port_range() {
    for (text, expected) in [
        ("32768\t60999\n", Some((32_768, 60_999))),
        ("1024 65535", Some((1024, 65_535))),
        ("60999 32768", None),
        ("1024", None),
        ("a b", None),
        ("0 65536", None),
    ] {
        let found = PortRange::parse(text).map(|range| (range.first, range.last));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn raising_the_limit_reaches_the_hard_one() {
    let limit = raise_open_file_limit();
    assert_eq!(limit.soft, limit.hard);
    assert!(limit.soft_before <= limit.soft);
}
