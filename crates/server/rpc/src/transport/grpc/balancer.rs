//! Round robin over the addresses of the application's hosts.
//!
//! Names are resolved again every half a minute, and as soon as a connection fails. Each address has connections of its
//! own, one per thread. A failing address is skipped, as long as another one works, until it accepts connections again.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::uri::Authority;
use tokio::{
    net::{TcpStream, lookup_host},
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use super::channel::Channel;
use crate::{status::Status, transport::origin::PerThread};

/// How often names are resolved when all is well: the life of a record in most clusters.
const RESOLVE_INTERVAL: Duration = Duration::from_secs(30);
/// The least time between two resolutions, even after failures.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time for a failing address to accept a connection again.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// One address of the application.
pub(super) struct Member {
    host: Authority,
    address: SocketAddr,
    pub(super) channels: PerThread<Channel>,
    is_failing: AtomicBool,
}

/// The current members, or the reason why there are none.
type Members = Result<Vec<Arc<Member>>, String>;

/// Chooses the members for a call.
pub(super) struct Balancer {
    members: watch::Receiver<Option<Members>>,
    n_chosen: AtomicUsize,
    has_failed: Arc<Notify>,
}

impl Balancer {
    /// Begins to resolve names, on the current runtime. `connect` makes the channels to an address.
    pub(super) fn start(
        hosts: &[Authority],
        connect: impl Fn(&Authority, SocketAddr) -> PerThread<Channel> + Send + Sync + 'static,
    ) -> Self {
        let (publish, members) = watch::channel(None);
        let has_failed = Arc::new(Notify::new());
        tokio::spawn(keep_resolving(
            hosts.to_vec(),
            connect,
            publish,
            Arc::clone(&has_failed),
        ));
        Self {
            members,
            n_chosen: AtomicUsize::new(0),
            has_failed,
        }
    }

    /// The members in the order in which a call tries them: the next one in turn first, failing ones last.
    pub(super) async fn order(&self) -> Result<Vec<Arc<Member>>, Status> {
        loop {
            match &*self.members.borrow() {
                Some(Ok(members)) => {
                    let n = self.n_chosen.fetch_add(1, Ordering::Relaxed);
                    return Ok(order(members, n, |member| member.is_failing()));
                }
                Some(Err(reason)) => return Err(Status::unavailable(reason.clone())),
                None => {}
            }
            let mut members = self.members.clone();
            let known = members.wait_for(Option::is_some).await;
            known.map_err(|_| Status::internal("names are no longer resolved"))?;
        }
    }

    /// Records that no connection could be made to this member.
    pub(super) fn failed(&self, member: &Member) {
        member.is_failing.store(true, Ordering::Relaxed);
        self.has_failed.notify_one();
    }
}

impl Member {
    fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// Records that a member answered.
    pub(super) fn works(&self) {
        self.is_failing.store(false, Ordering::Relaxed);
    }
}

/// The working items in turn, beginning with number `n`, then the failing ones.
fn order<T: Clone>(members: &[T], n: usize, is_failing: impl Fn(&T) -> bool) -> Vec<T> {
    let (failing, mut order): (Vec<T>, Vec<T>) = members.iter().cloned().partition(is_failing);
    if !order.is_empty() {
        let first = n % order.len();
        order.rotate_left(first);
    }
    order.extend(failing);
    order
}

async fn keep_resolving(
    hosts: Vec<Authority>,
    connect: impl Fn(&Authority, SocketAddr) -> PerThread<Channel>,
    publish: watch::Sender<Option<Members>>,
    has_failed: Arc<Notify>,
) {
    let mut members: Vec<Arc<Member>> = Vec::new();
    while !publish.is_closed() {
        let mut failure = None;
        for host in &hosts {
            match lookup_host(host.as_str()).await {
                Ok(addresses) => update(&mut members, host, addresses, &connect),
                // The last known addresses are still the best guess.
                Err(error) => failure = Some(format!("cannot resolve {host}: {error}")),
            }
        }
        for member in members.iter().filter(|member| member.is_failing()) {
            if let Ok(Ok(_)) = timeout(PROBE_TIMEOUT, TcpStream::connect(member.address)).await {
                member.works();
            }
        }
        let is_well = failure.is_none() && !members.iter().any(|member| member.is_failing());
        publish.send_replace(Some(match failure {
            Some(reason) if members.is_empty() => Err(reason),
            _ => Ok(members.clone()),
        }));
        sleep(MIN_INTERVAL).await;
        if is_well {
            // The time is up or a connection failed: resolve again in either case.
            let _over_or_failed = timeout(RESOLVE_INTERVAL, has_failed.notified()).await;
        }
    }
}

/// Updates the members. Addresses that remain keep their connections; removed ones lose theirs after their last call.
fn update(
    members: &mut Vec<Arc<Member>>,
    host: &Authority,
    addresses: impl Iterator<Item = SocketAddr>,
    connect: impl Fn(&Authority, SocketAddr) -> PerThread<Channel>,
) {
    let mut addresses: Vec<_> = addresses.collect();
    addresses.sort_unstable();
    addresses.dedup();
    members.retain(|member| member.host != *host || addresses.contains(&member.address));
    for address in addresses {
        if !members
            .iter()
            .any(|member| member.host == *host && member.address == address)
        {
            members.push(Arc::new(Member {
                host: host.clone(),
                address,
                channels: connect(host, address),
                is_failing: AtomicBool::new(false),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper_util::client::legacy::connect::HttpConnector;
    use plimsoll_telemetry::Gauge;

    use super::{
        super::{channel::Endpoint, fixed_address::FixedAddress},
        *,
    };
    use crate::{proto::Method, tls};

    #[track_caller]
    fn check_order(failing: &[char], expected: [&str; 3]) {
        let orders = [0, 1, 2].map(|n| order(&['a', 'b', 'c'], n, |name| failing.contains(name)));
        assert_eq!(orders.map(String::from_iter), expected);
    }

    #[test]
    fn members_take_turns_and_those_that_fail_come_last() {
        check_order(&[], ["abc", "bca", "cab"]);
        check_order(&['b'], ["acb", "cab", "acb"]);
        check_order(&['a', 'b', 'c'], ["abc", "abc", "abc"]);
    }

    #[tokio::test]
    async fn addresses_come_and_go_and_those_that_stay_keep_their_connection() {
        let host: Authority = "app:1".parse().expect("valid");
        let other: Authority = "other:1".parse().expect("valid");
        let connect = |host: &Authority, address| {
            let tcp = HttpConnector::new_with_resolver(FixedAddress(address));
            PerThread::new(0, || {
                Channel::new(Endpoint {
                    connector: (tcp.clone(), tls::unused_config()).into(),
                    urls: Method::ALL.map(|_| format!("http://{host}/").parse().expect("valid")),
                    timeout: Duration::ZERO,
                    n_connections: Gauge::default(),
                })
            })
        };
        let addresses = |ends: &[u8]| {
            let ends = ends.to_vec();
            ends.into_iter().map(|end| SocketAddr::from(([10, 0, 0, end], 1)))
        };
        let mut members = Vec::new();
        update(&mut members, &host, addresses(&[1, 2, 2]), connect);
        update(&mut members, &other, addresses(&[2]), connect);
        assert_eq!(members.len(), 3);
        let stays = Arc::clone(&members[1]);
        update(&mut members, &host, addresses(&[2, 3]), connect);
        let ends = members
            .iter()
            .map(|member| (member.host.as_str(), member.address.to_string()));
        assert_eq!(
            ends.collect::<Vec<_>>(),
            [
                ("app:1", "10.0.0.2:1".to_owned()),
                ("other:1", "10.0.0.2:1".to_owned()),
                ("app:1", "10.0.0.3:1".to_owned()),
            ]
        );
        assert!(Arc::ptr_eq(&stays, &members[0]));
    }
}
