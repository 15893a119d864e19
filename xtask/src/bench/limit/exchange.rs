//! The limits of fan-out and of listening: one thread writes a frame to every connection, another reads them all.
//!
//! Both threads measure themselves. The writer starts the next broadcast when everything has arrived, as a workload
//! with one broadcast in flight does.

use std::{
    io::{self, Read},
    net::TcpStream,
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{Cost, pairs::Pairs, thread_cpu, writer::Writer};
use crate::bench::poller::Poller;

/// Default connection counts: one thousand fit the caches of a machine, nine thousand do not.
pub(crate) const CONNECTIONS: [usize; 2] = [1_000, 9_000];

/// Sends, and receives, per measurement; they take two to five seconds.
const N_OPERATIONS: usize = 1_000_000;
/// The same for a look at the machine that comes before each round of something else.
const N_OPERATIONS_OF_PACE: usize = 200_000;
/// About the size of the broadcast frames with which the budgets were set.
const PACE_FRAME_BYTES: usize = 350;

/// How much to send.
#[derive(Clone, Copy)]
struct Workload {
    n_connections: usize,
    n_broadcasts: usize,
    frame_bytes: usize,
}

impl Workload {
    fn of_a_million(n_connections: usize, frame_bytes: usize) -> Self {
        Self {
            n_connections,
            n_broadcasts: (N_OPERATIONS / n_connections).max(1),
            frame_bytes,
        }
    }
}

/// What the exchange cost either side.
pub(crate) struct Costs {
    pub(crate) send: Cost,
    pub(crate) recv: Cost,
}

/// How long a side waits for the other before the run counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// One socket buffer's worth, more than a frame: a read never leaves a rest.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Sends frames of this size to all clients, about a million in all, and returns what they cost.
pub(crate) fn measure(n_connections: usize, frame_bytes: usize) -> io::Result<Costs> {
    let workload = Workload::of_a_million(n_connections, frame_bytes);
    run(workload, Writer::SystemCalls)
}

/// What [`measure`]'s sends cost through `io_uring`. `None` if the kernel is too old or does not permit it.
pub(crate) fn measure_ring(n_connections: usize, frame_bytes: usize) -> io::Result<Option<Cost>> {
    let Ok(writer) = Writer::ring() else {
        return Ok(None);
    };
    let workload = Workload::of_a_million(n_connections, frame_bytes);
    Ok(Some(run(workload, writer)?.send))
}

/// CPU µs of a bare exchange, a `send` and a `recv`, among a thousand connections: the pace of this machine right now.
pub(crate) fn pace_us() -> io::Result<f64> {
    let n_connections = CONNECTIONS[0];
    let workload = Workload {
        n_connections,
        n_broadcasts: N_OPERATIONS_OF_PACE / n_connections,
        frame_bytes: PACE_FRAME_BYTES,
    };
    let Costs { send, recv } = run(workload, Writer::SystemCalls)?;
    Ok(send.us_per_operation() + recv.us_per_operation())
}

/// Opens the connections, sends all broadcasts and returns the CPU time of the writing and of the reading thread.
fn run(workload: Workload, writer: Writer) -> io::Result<Costs> {
    let Pairs { accepted, connected } = Pairs::open(workload.n_connections)?;
    // The reader reports each broadcast that has arrived everywhere; one can wait while the writer is busy.
    let (arrived, arrivals) = mpsc::sync_channel(1);
    let (send, recv) = thread::scope(|scope| {
        let reader = scope.spawn(|| read_all(&connected, workload, &arrived));
        let send = write_all(writer, &accepted, workload, &arrivals);
        // A writer that failed leaves the reader to its own patience.
        (send, reader.join().expect("the reading thread does not panic"))
    });
    let n_operations = workload.n_connections * workload.n_broadcasts;
    Ok(Costs {
        send: Cost {
            n_operations,
            cpu: send?,
        },
        recv: Cost {
            n_operations,
            cpu: recv?,
        },
    })
}

fn write_all(
    mut writer: Writer,
    sockets: &[TcpStream],
    workload: Workload,
    arrivals: &mpsc::Receiver<()>,
) -> io::Result<Duration> {
    let frame = vec![b'x'; workload.frame_bytes];
    let start = thread_cpu::now();
    for _ in 0..workload.n_broadcasts {
        writer.write(sockets, &frame)?;
        arrivals.recv_timeout(PATIENCE).map_err(io::Error::other)?;
    }
    Ok(thread_cpu::now() - start)
}

fn read_all(
    sockets: &[TcpStream],
    workload: Workload,
    arrived: &mpsc::SyncSender<()>,
) -> io::Result<Duration> {
    let mut poller = Poller::new()?;
    for (index, socket) in sockets.iter().enumerate() {
        poller.add(socket, index)?;
    }
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    let start = thread_cpu::now();
    for _ in 0..workload.n_broadcasts {
        let mut n_bytes_left = workload.frame_bytes * sockets.len();
        while n_bytes_left > 0 {
            for index in poller.wait()? {
                n_bytes_left -= (&sockets[index]).read(&mut buffer)?;
            }
        }
        arrived.send(()).map_err(io::Error::other)?;
    }
    Ok(thread_cpu::now() - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_send_and_every_recv_is_counted() {
        let workload = Workload {
            n_connections: 10,
            n_broadcasts: 20,
            frame_bytes: 350,
        };
        for writer in [Some(Writer::SystemCalls), Writer::ring().ok()]
            .into_iter()
            .flatten()
        {
            let Costs { send, recv } = run(workload, writer).unwrap();
            assert_eq!((send.n_operations, recv.n_operations), (200, 200));
            assert!(send.us_per_operation() > 0.0 && recv.us_per_operation() > 0.0);
        }
    }
}
