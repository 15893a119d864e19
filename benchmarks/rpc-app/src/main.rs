//! An application with AnyCable's gRPC service that does as little as it can, so that `cargo xtask bench rpc` measures
//! the server that asks it and not the application.
//!
//! It listens on a free port of 127.0.0.1, announces that with one line of JSON on stdout, and ends with its standard
//! input, so that it cannot outlive the benchmark.

mod contract;
mod grpc;
mod service;

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    thread,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// A server sends all calls on one connection, and one thread can keep up with one connection; more of them would only
/// wake each other.
#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    announce(listener.local_addr()?)?;
    tokio::select! {
        outcome = accept(&listener) => outcome,
        _ = end_of_input() => Ok(()),
    }
}

async fn accept(listener: &TcpListener) -> io::Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(serve(socket));
    }
}

/// A failed connection does not affect other connections, and the benchmark sees the failed calls.
async fn serve(socket: TcpStream) {
    if let Err(error) = grpc::serve(socket, service::answer).await {
        let _nobody_listens = writeln!(io::stderr(), "a connection failed: {error}");
    }
}

fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, r#"{{"event":"listening","address":"{address}"}}"#)?;
    stdout.flush()
}

/// Completes when there is nothing more to read; an error means that as well.
fn end_of_input() -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    thread::spawn(move || {
        let _n_read = io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    end
}
