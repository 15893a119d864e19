//! Watching real processes of this machine.

use std::{
    io::{BufRead, BufReader},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::*;

/// A shell with one child of its own, both waiting until the shell's standard input closes.
fn spawn_family() -> Child {
    let mut shell = Command::new("sh")
        // A background command of a shell reads from /dev/null unless it is given a descriptor.
        .args(["-c", "exec 3<&0; cat <&3 & echo ready; wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(shell.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    shell
}

#[test]
fn a_listening_port_leads_to_its_process() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            continue; // The machine has no IPv6.
        };
        let port = listener.local_addr().unwrap().port();
        let watch = ProcessTree::attach(Root::Port(port)).unwrap();
        assert!(watch.pids().any(|pid| pid == std::process::id()));
    }
}

#[test]
fn a_port_that_nobody_listens_on_is_an_error_that_says_so() {
    // A connected socket keeps other programs off its port, but does not listen.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = client.local_addr().unwrap().port();
    let error = ProcessTree::attach(Root::Port(port)).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("no process listens on port {port}")),
        "{error}"
    );
}

#[test]
fn samples_this_process() {
    let mut watch = ProcessTree::attach(Root::Process(std::process::id())).unwrap();
    let first = watch.sample().unwrap();
    assert!(first.rss_bytes > 100_000 && first.n_threads >= Some(1) && first.n_processes >= Some(1));
    assert!(first.n_open_files.is_some_and(|n| n >= 3));
    let second = watch.sample().unwrap();
    let usage = second.since(&first);
    assert!(usage.cpu > Duration::ZERO && usage.elapsed > Duration::ZERO && usage.cores() > 0.0);
    let reading = watch.read().unwrap();
    let value = |wanted: &str| {
        reading
            .figures
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, figure)| *figure)
    };
    let (Some(Figure::Level(rss)), Some(Figure::Level(pss))) =
        (value(figure::RSS_BYTES), value(figure::PSS_BYTES))
    else {
        panic!("{reading:?}");
    };
    assert!(pss > 0.0 && pss <= rss * 1.1, "{pss} of {rss}");
    assert!(value(figure::SOCKETS).is_some() && value(figure::NETWORK_SENT_BYTES).is_some());
}

#[test]
fn children_belong_to_the_target() {
    let mut shell = spawn_family();
    let mut watch = ProcessTree::attach(Root::Process(shell.id())).unwrap();
    assert_eq!(watch.sample().unwrap().n_processes, Some(2));
    drop(shell.stdin.take());
    shell.wait().unwrap();
}

#[test]
fn a_target_that_ended_is_an_error_that_says_so() {
    let mut shell = spawn_family();
    let pid = shell.id();
    let mut watch = ProcessTree::attach(Root::Process(pid)).unwrap();
    drop(shell.stdin.take());
    shell.wait().unwrap();
    let error = watch.sample().unwrap_err().to_string();
    assert_eq!(error, format!("the target has ended: process {pid} is gone"));
    assert!(matches!(
        ProcessTree::attach(Root::Process(pid)),
        Err(WatchError::NoProcess { .. })
    ));
}

#[test]
fn a_zombie_has_ended() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let mut watch = ProcessTree::attach(Root::Process(child.id())).unwrap();
    watch.sample().unwrap();
    drop(child.stdin.take());
    // Waits for the end without taking the exit status, so that the zombie stays.
    waitid(
        WaitId::Pid(Pid::from_child(&child)),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )
    .unwrap();
    assert!(matches!(watch.sample(), Err(WatchError::Ended { .. })));
    child.wait().unwrap();
}
