//! Which node of a Redis Cluster has which slots.

use std::collections::HashMap;

use crate::{cluster::slots::N_SLOTS, resp::Reply, target::Address};

/// The most primaries. Redis recommends up to 1,000 nodes.
const MAX_PRIMARIES: u16 = 1000;

/// In place of an index: no node.
const UNSERVED: u16 = u16::MAX;

/// The primaries, and the slots of each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SlotMap {
    primaries: Vec<Address>,
    /// The index of the primary of each slot. Empty: nothing is known.
    owners: Vec<u16>,
}

impl SlotMap {
    /// Reads the answer to `CLUSTER SLOTS`: ranges of slots, each with its first and last slot and its nodes, the primary
    /// first. `asked` is the host of the node that answered, which may not know its own.
    pub(crate) fn read(reply: Reply, asked: &str) -> Self {
        let mut map = Self {
            primaries: Vec::new(),
            owners: vec![UNSERVED; usize::from(N_SLOTS)],
        };
        let mut known = HashMap::new();
        for range in reply.into_elements() {
            let mut parts = range.into_elements().into_iter();
            let (Some(first), Some(last), Some(primary)) = (
                parts.next().and_then(|part| slot(&part)),
                parts.next().and_then(|part| slot(&part)),
                parts.next().and_then(|node| address(node, asked)),
            ) else {
                continue;
            };
            let index = *known
                .entry(primary)
                .or_insert_with_key(|primary| map.enlist(primary));
            (first..=last).for_each(|slot| map.owners[usize::from(slot)] = index);
        }
        map
    }

    fn enlist(&mut self, primary: &Address) -> u16 {
        match u16::try_from(self.primaries.len()) {
            Ok(index) if index < MAX_PRIMARIES => {
                self.primaries.push(primary.clone());
                index
            }
            _ => UNSERVED,
        }
    }

    /// The same map with another owner of one slot.
    pub(crate) fn with(&self, slot: u16, owner: &Address) -> Self {
        let mut map = self.clone();
        map.owners.resize(usize::from(N_SLOTS), UNSERVED);
        let index = match self.primaries.iter().position(|primary| primary == owner) {
            Some(index) => u16::try_from(index).unwrap_or(UNSERVED),
            None => map.enlist(owner),
        };
        map.owners[usize::from(slot)] = index;
        map
    }

    /// The primary of a slot, if it has one.
    pub(crate) fn owner(&self, slot: u16) -> Option<&Address> {
        let index = self.owners.get(usize::from(slot))?;
        self.primaries.get(usize::from(*index))
    }

    pub(crate) fn primaries(&self) -> &[Address] {
        &self.primaries
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.primaries.is_empty()
    }

    pub(crate) fn n_without_owner(&self) -> usize {
        self.owners.iter().filter(|owner| **owner == UNSERVED).count()
    }
}

fn slot(reply: &Reply) -> Option<u16> {
    match reply {
        Reply::Integer(slot) => u16::try_from(*slot).ok().filter(|slot| *slot < N_SLOTS),
        _ => None,
    }
}

/// `[host, port, id, …]`. The host is nil or empty when the node does not know it.
fn address(node: Reply, asked: &str) -> Option<Address> {
    let mut parts = node.into_elements().into_iter();
    let host = match parts.next()? {
        Reply::Text(host) if !host.is_empty() && host != b"?" => String::from_utf8(host).ok()?,
        Reply::Text(_) | Reply::Nil => asked.to_owned(),
        _ => return None,
    };
    match parts.next()? {
        Reply::Integer(port) => Some(Address {
            host,
            port: u16::try_from(port).ok()?,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: Reply, port: i64) -> Reply {
        let id = Reply::Text(b"07c37dfeb235213a872192d90877d0cd55635b91".to_vec());
        Reply::Array(vec![host, Reply::Integer(port), id, Reply::Array(Vec::new())])
    }

    fn text(text: &str) -> Reply {
        Reply::Text(text.into())
    }

    fn range(first: i64, last: i64, nodes: Vec<Reply>) -> Reply {
        let mut parts = vec![Reply::Integer(first), Reply::Integer(last)];
        parts.extend(nodes);
        Reply::Array(parts)
    }

    #[track_caller]
    fn check(map: &SlotMap, slot: u16, expected: Option<&str>) {
        let found = map.owner(slot).map(ToString::to_string);
        assert_eq!(found.as_deref(), expected, "{slot}");
    }

    fn three() -> SlotMap {
        let reply = Reply::Array(vec![
            range(
                0,
                5460,
                vec![node(text("10.0.0.1"), 7000), node(text("10.0.0.4"), 7003)],
            ),
            range(5461, 10922, vec![node(text(""), 7001)]),
            range(10923, 16382, vec![node(Reply::Nil, 7002)]),
            range(16383, 16383, vec![node(text("10.0.0.1"), 7000)]),
        ]);
        SlotMap::read(reply, "asked")
    }

    #[test]
    fn each_slot_belongs_to_the_first_node_of_its_range() {
        let map = three();
        for (slot, owner) in [
            (0, "10.0.0.1:7000"),
            (5460, "10.0.0.1:7000"),
            (5461, "asked:7001"),
            (10923, "asked:7002"),
            (16382, "asked:7002"),
            (16383, "10.0.0.1:7000"),
        ] {
            check(&map, slot, Some(owner));
        }
        assert_eq!((map.primaries().len(), map.n_without_owner()), (3, 0));
    }

    #[test]
    fn a_slot_moves_to_a_known_node_or_to_a_new_one() {
        let map = three();
        let at = |port| Address {
            host: "asked".to_owned(),
            port,
        };
        let moved = map.with(0, &at(7001));
        check(&moved, 0, Some("asked:7001"));
        check(&moved, 1, Some("10.0.0.1:7000"));
        assert_eq!(moved.primaries().len(), 3);
        let moved = SlotMap::default().with(7, &at(7009));
        check(&moved, 7, Some("asked:7009"));
        check(&moved, 8, None);
    }

    #[test]
    fn what_has_another_form_is_nobodys() {
        check(&SlotMap::default(), 0, None);
        for odd in [
            Reply::Nil,
            Reply::Array(vec![Reply::Integer(1)]),
            Reply::Array(vec![range(0, 16384, vec![node(text("h"), 1)])]),
            Reply::Array(vec![range(0, 1, vec![node(text("h"), 70_000)])]),
            Reply::Array(vec![range(0, 1, Vec::new())]),
            Reply::Array(vec![range(1, 0, vec![node(Reply::Integer(1), 1)])]),
        ] {
            let map = SlotMap::read(odd, "asked");
            assert!(map.is_empty(), "{map:?}");
            assert_eq!(map.n_without_owner(), usize::from(N_SLOTS));
        }
        let many = (0..2000).map(|n| range(n, n, vec![node(text("h"), n + 1)]));
        let map = SlotMap::read(Reply::Array(many.collect()), "asked");
        assert_eq!(map.primaries().len(), usize::from(MAX_PRIMARIES));
        check(&map, 1999, None);
    }
}
