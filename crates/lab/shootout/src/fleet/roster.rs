//! The connected clients.

use crate::worker::ClientId;

/// The connected clients. Adding, removing and picking at random take constant time.
#[derive(Debug)]
pub(super) struct Roster {
    clients: Vec<ClientId>,
    /// The index in `clients`, by worker and slot.
    places: Vec<Vec<Option<usize>>>,
    n_by_worker: Vec<usize>,
}

impl Roster {
    pub(super) fn new(n_workers: usize) -> Self {
        Self {
            clients: Vec::new(),
            places: vec![Vec::new(); n_workers],
            n_by_worker: vec![0; n_workers],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    /// The connected clients of a worker.
    pub(super) fn of_worker(&self, worker: usize) -> Vec<ClientId> {
        let slots = self.places[worker].iter().enumerate();
        let connected = slots.filter(|(_, place)| place.is_some());
        connected.map(|(slot, _)| ClientId { worker, slot }).collect()
    }

    /// The number of workers with at least one connected client.
    pub(super) fn n_workers(&self) -> usize {
        self.n_by_worker.iter().filter(|n| **n > 0).count()
    }

    pub(super) fn add(&mut self, client: ClientId) {
        let places = &mut self.places[client.worker];
        if client.slot >= places.len() {
            places.resize(client.slot + 1, None);
        }
        places[client.slot] = Some(self.clients.len());
        self.clients.push(client);
        self.n_by_worker[client.worker] += 1;
    }

    pub(super) fn remove(&mut self, client: ClientId) {
        let place = self.places[client.worker]
            .get_mut(client.slot)
            .and_then(Option::take);
        let Some(place) = place else { return };
        self.clients.swap_remove(place);
        if let Some(moved) = self.clients.get(place) {
            self.places[moved.worker][moved.slot] = Some(place);
        }
        self.n_by_worker[client.worker] -= 1;
    }

    /// A random connected client, each with equal probability.
    pub(super) fn pick(&self, rng: &mut fastrand::Rng) -> Option<ClientId> {
        if self.clients.is_empty() {
            None
        } else {
            Some(self.clients[rng.usize(..self.clients.len())])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn knows_exactly_who_is_connected(moves in proptest::collection::vec((any::<bool>(), 0_usize..3, 0_usize..9), 0..99)) {
            let (mut roster, mut model) = (Roster::new(3), BTreeSet::new());
            for (is_arrival, worker, slot) in moves {
                let client = ClientId { worker, slot };
                if !is_arrival {
                    model.remove(&(worker, slot));
                    roster.remove(client);
                } else if model.insert((worker, slot)) {
                    roster.add(client);
                }
                let known: BTreeSet<_> = roster.clients.iter().map(|it| (it.worker, it.slot)).collect();
                prop_assert_eq!(&known, &model);
                let workers: BTreeSet<_> = model.iter().map(|it| it.0).collect();
                prop_assert_eq!((roster.len(), roster.n_workers()), (model.len(), workers.len()));
            }
        }
    }

    #[test]
    fn everyone_is_picked() {
        let mut roster = Roster::new(1);
        let mut rng = fastrand::Rng::with_seed(7);
        assert_eq!(roster.pick(&mut rng), None);
        (0..10).for_each(|slot| roster.add(ClientId { worker: 0, slot }));
        let picked: BTreeSet<_> = (0..500)
            .filter_map(|_| roster.pick(&mut rng))
            .map(|it| it.slot)
            .collect();
        assert_eq!(picked.len(), 10);
    }
}
