//! A real Redis or NATS server of a test's own.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command},
};

/// A program that listens on a port and keeps its data in a folder.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// What its log says when it listens. The command pipes the stream that has the log.
    pub(crate) ready: &'static str,
    pub(crate) command: fn(port: u16, folder: &Path) -> Command,
}

/// A running program, on a port of its own. Its drop ends it and removes its folder.
pub(crate) struct Process {
    program: Program,
    child: Child,
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
}

impl Process {
    pub(crate) fn start(program: Program) -> Self {
        let id: String = std::iter::repeat_with(fastrand::alphanumeric).take(12).collect();
        let folder = std::env::temp_dir().join(format!("plimsoll-broker-{id}"));
        std::fs::create_dir(&folder).expect("the folder is new");
        // Another program may take the port before the server does.
        for _ in 0..10 {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
            let port = free.expect("there is a free port").port();
            if let Some(child) = program.spawn(port, &folder) {
                return Self {
                    program,
                    child,
                    port,
                    folder,
                };
            }
        }
        panic!("the server does not start");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    pub(crate) fn restart(&mut self) {
        let child = self.program.spawn(self.port, &self.folder);
        self.child = child.expect("its port is free");
    }
}

impl Program {
    fn spawn(self, port: u16, folder: &Path) -> Option<Child> {
        let mut child = (self.command)(port, folder)
            .spawn()
            .expect("the server is installed (cargo xtask test --only setup)");
        let stdout = child
            .stdout
            .take()
            .map(|log| Box::new(log) as Box<dyn Read + Send>);
        let stderr = child
            .stderr
            .take()
            .map(|log| Box::new(log) as Box<dyn Read + Send>);
        let mut log = BufReader::new(stdout.or(stderr).expect("one is piped"));
        let mut line = String::new();
        while log.read_line(&mut line).is_ok_and(|n| n > 0) {
            if line.contains(self.ready) {
                // Otherwise the pipe fills, and the server waits.
                std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Some(child);
            }
            line.clear();
        }
        drop(child.wait());
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
