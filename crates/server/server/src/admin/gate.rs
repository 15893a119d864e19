//! Decides who may see the admin page: clients that know its secret, and for a while the browser that has sent it.
//!
//! The secret is never part of a URL, because proxies log URLs. A browser sends it in a form and gets a cookie. The
//! cookie needs no table: it holds its expiry time, signed with the secret. So it survives a restart, is valid on all
//! shards, and a new secret invalidates all cookies.

use std::{
    collections::HashMap,
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_cable::derived_key;
use subtle::ConstantTimeEq;

use crate::network::Network;

/// How long a browser stays signed in: a working day.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The most wrong secrets of one network that are being answered at the same time. While there are as many, further
/// secrets of that network, right ones too, are not checked.
const MAX_WRONG: u8 = 4;

/// How long the answer to a wrong secret takes. With [`MAX_WRONG`] that allows four guesses a second per network, too
/// few to find a secret of 16 characters. Operators with another address are not locked out.
const WRONG_DELAY: Duration = Duration::from_secs(1);

/// The most networks that are counted at the same time. Guesses of further networks are answered at once, so that the
/// operator gets in and memory stays bounded.
const MAX_NETWORKS: usize = 1024;

/// Checks secrets and cookies.
pub(crate) struct Gate {
    secret: String,
    guesses: Arc<Guesses>,
}

/// Guesses that are being answered, by network. The map's hash is keyed, because the guessers choose the addresses.
#[derive(Default)]
struct Guesses(Mutex<HashMap<Network, u8>>);

/// A guess that is being answered, until it is dropped.
struct Place {
    guesses: Arc<Guesses>,
    /// `None` if too many networks are counted.
    network: Option<Network>,
}

/// The answer to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    Wrong,
    /// The secret was not checked, because too many wrong ones came from its network.
    TooMany,
}

impl Gate {
    pub(crate) fn new(secret: String) -> Self {
        Self {
            secret,
            guesses: Arc::default(),
        }
    }

    /// Checks a secret. A wrong one keeps its place for the whole delay, even if its client hangs up sooner, because a
    /// client that does not wait must not get more guesses. Must be called on a shard.
    pub(crate) async fn judge(&self, guess: &[u8], peer: IpAddr) -> Verdict {
        let Some(place) = self.guesses.enter(Network::of(peer)) else {
            return Verdict::TooMany;
        };
        if guess.ct_eq(self.secret.as_bytes()).into() {
            return Verdict::Right;
        }
        if place.network.is_none() {
            return Verdict::Wrong;
        }
        let delay = tokio::task::spawn_local(async move {
            tokio::time::sleep(WRONG_DELAY).await;
            drop(place);
        });
        let _the_shard_may_be_ending = delay.await;
        Verdict::Wrong
    }

    /// A cookie value that is valid for [`SESSION_LIFETIME`].
    pub(crate) fn admit(&self, now: SystemTime) -> String {
        let until = unix_seconds(now + SESSION_LIFETIME);
        format!("{until}.{}", self.signature(until))
    }

    /// Whether a cookie value was made by this gate and has not expired.
    pub(crate) fn knows(&self, cookie: &str, now: SystemTime) -> bool {
        let Some((until, signature)) = cookie.split_once('.') else {
            return false;
        };
        let Ok(until) = until.parse::<u64>() else {
            return false;
        };
        let is_ours: bool = signature
            .as_bytes()
            .ct_eq(self.signature(until).as_bytes())
            .into();
        is_ours && unix_seconds(now) < until
    }

    fn signature(&self, until: u64) -> String {
        derived_key::derive(&self.secret, &format!("admin-page until {until}"))
    }
}

impl Guesses {
    /// Counts a guess. `None` if there are too many from its network.
    fn enter(self: &Arc<Self>, network: Network) -> Option<Place> {
        let mut table = self.table();
        let is_counted = table.contains_key(&network) || table.len() < MAX_NETWORKS;
        if is_counted {
            let n_guesses = table.entry(network).or_default();
            if *n_guesses == MAX_WRONG {
                return None;
            }
            *n_guesses += 1;
        }
        Some(Place {
            guesses: Arc::clone(self),
            network: is_counted.then_some(network),
        })
    }

    fn leave(&self, network: Network) {
        let mut table = self.table();
        if let Some(n_guesses) = table.get_mut(&network) {
            *n_guesses -= 1;
            if *n_guesses == 0 {
                table.remove(&network);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Network, u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(network) = self.network {
            self.guesses.leave(network);
        }
    }
}

/// The Unix time in seconds. A clock before 1970 was never set and counts as 0.
fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Omits the secret.
impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::{
        task::{LocalSet, spawn_local},
        time::Instant,
    };

    use super::*;

    const OPERATOR: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const RIGHT: &[u8] = b"a secret of some length";

    fn gate() -> Gate {
        Gate::new("a secret of some length".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_right_secret_is_answered_at_once_and_a_wrong_one_takes_its_time() {
        LocalSet::new()
            .run_until(async {
                for (guess, expected, seconds) in [
                    ("a secret of some length", Verdict::Right, 0),
                    ("a secret of some lengtH", Verdict::Wrong, 1),
                    ("a secret of some length\0", Verdict::Wrong, 1),
                    ("", Verdict::Wrong, 1),
                ] {
                    let begin = Instant::now();
                    assert_eq!(
                        gate().judge(guess.as_bytes(), OPERATOR).await,
                        expected,
                        "{guess}"
                    );
                    assert_eq!(begin.elapsed().as_secs(), seconds, "{guess}");
                }
            })
            .await;
    }

    /// Guesses without waiting for the answer.
    async fn guess_and_leave(gate: &Arc<Gate>, peer: IpAddr) {
        let gate = Arc::clone(gate);
        let guessing = spawn_local(async move { gate.judge(b"wrong", peer).await });
        tokio::task::yield_now().await;
        guessing.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_guesses_is_not_looked_at_and_keeps_nobody_else_out() {
        LocalSet::new()
            .run_until(async {
                let gate = Arc::new(gate());
                let [own, neighbor, other]: [IpAddr; 3] =
                    ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"]
                        .map(|address| address.parse().expect("an address"));
                for _ in 0..MAX_WRONG {
                    guess_and_leave(&gate, own).await;
                }
                assert_eq!(gate.judge(RIGHT, own).await, Verdict::TooMany);
                assert_eq!(gate.judge(RIGHT, neighbor).await, Verdict::TooMany);
                assert_eq!(gate.judge(RIGHT, other).await, Verdict::Right);
                assert_eq!(gate.judge(RIGHT, OPERATOR).await, Verdict::Right);
                tokio::time::sleep(WRONG_DELAY + Duration::from_millis(1)).await;
                assert_eq!(gate.judge(RIGHT, own).await, Verdict::Right);
                assert!(gate.guesses.table().is_empty());
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn guesses_from_everywhere_fill_no_memory_and_keep_nobody_out() {
        LocalSet::new()
            .run_until(async {
                let gate = Arc::new(gate());
                for n in 0..MAX_NETWORKS as u128 + 10 {
                    guess_and_leave(&gate, Ipv6Addr::from_bits(n << 64).into()).await;
                }
                assert_eq!(gate.guesses.table().len(), MAX_NETWORKS);
                let begin = Instant::now();
                assert_eq!(gate.judge(b"wrong", OPERATOR).await, Verdict::Wrong);
                assert_eq!(gate.judge(RIGHT, OPERATOR).await, Verdict::Right);
                assert_eq!(begin.elapsed(), Duration::ZERO);
            })
            .await;
    }

    #[test]
    fn a_cookie_is_good_until_its_time_is_up_and_for_its_secret_alone() {
        let begin = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let cookie = gate().admit(begin);
        let check = |cookie: &str, seconds: u64, expected| {
            let now = begin + Duration::from_secs(seconds);
            assert_eq!(gate().knows(cookie, now), expected, "{cookie} after {seconds} s");
        };
        let lifetime = SESSION_LIFETIME.as_secs();
        check(&cookie, 0, true);
        check(&cookie, lifetime - 1, true);
        check(&cookie, lifetime, false);
        check(&Gate::new("another secret".to_owned()).admit(begin), 0, false);
        let later = format!("9{cookie}");
        for forged in [later.as_str(), "", ".", "1800000001.", "x.y", &cookie[..20]] {
            check(forged, 0, false);
        }
    }
}
