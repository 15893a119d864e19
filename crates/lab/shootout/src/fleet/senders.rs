//! The clients that may send: in a fleet that broadcasts, those of one agent, so that the times of all sends are of one clock.

use super::roster::Roster;
use crate::worker::ClientId;

/// The clients that may send, by group. Workers take turns at the groups.
#[derive(Debug)]
pub(super) struct Senders {
    groups: Vec<Roster>,
}

impl Senders {
    /// So many workers in so many groups, at least one.
    pub(super) fn new(n_workers: usize, n_groups: usize) -> Self {
        let size = n_workers.div_ceil(n_groups);
        Self {
            groups: (0..n_groups).map(|_| Roster::new(size)).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.len() == 0)
    }

    pub(super) fn add(&mut self, client: ClientId) {
        let (group, own) = self.place(client);
        self.groups[group].add(own);
    }

    pub(super) fn remove(&mut self, client: ClientId) {
        let (group, own) = self.place(client);
        self.groups[group].remove(own);
    }

    /// A random client of the first group that has any, each with equal probability.
    pub(super) fn pick(&self, rng: &mut fastrand::Rng) -> Option<ClientId> {
        let n_groups = self.groups.len();
        self.groups.iter().enumerate().find_map(|(group, roster)| {
            let ClientId { worker, slot } = roster.pick(rng)?;
            Some(ClientId {
                worker: worker * n_groups + group,
                slot,
            })
        })
    }

    fn place(&self, ClientId { worker, slot }: ClientId) -> (usize, ClientId) {
        let n_groups = self.groups.len();
        let own = ClientId {
            worker: worker / n_groups,
            slot,
        };
        (worker % n_groups, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_group_with_clients_sends() {
        let mut rng = fastrand::Rng::with_seed(7);
        let client = |worker, slot| ClientId { worker, slot };
        let mut senders = Senders::new(6, 3);
        assert!(senders.is_empty());
        for it in [client(1, 0), client(4, 2), client(5, 0)] {
            senders.add(it);
        }
        let picked = |senders: &Senders, rng: &mut fastrand::Rng| -> Vec<_> {
            let mut workers: Vec<_> = (0..50)
                .filter_map(|_| senders.pick(rng))
                .map(|it| it.worker)
                .collect();
            workers.sort_unstable();
            workers.dedup();
            workers
        };
        assert_eq!(picked(&senders, &mut rng), [1, 4]);
        senders.remove(client(1, 0));
        senders.remove(client(4, 2));
        assert_eq!(picked(&senders, &mut rng), [5]);
        senders.remove(client(5, 0));
        assert!(senders.is_empty() && senders.pick(&mut rng).is_none());
        let mut one = Senders::new(6, 1);
        (0..6).for_each(|worker| one.add(client(worker, 0)));
        assert_eq!(picked(&one, &mut rng), [0, 1, 2, 3, 4, 5]);
    }
}
