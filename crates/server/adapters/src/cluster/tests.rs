//! Nodes that tell what the tests say.

use super::*;
use crate::{
    scripted::{Scripted, cluster, cluster_info, cluster_slots},
    server::Discovery,
};

const PATIENCE: Duration = Duration::from_secs(60);

const DISABLED: &str = "-ERR This instance has cluster support disabled\r\n";

fn topology(ports: &[u16]) -> Arc<Topology> {
    match cluster(ports).discovery {
        Discovery::Cluster(topology) => topology,
        other => panic!("{other:?} is no cluster"),
    }
}

/// A node that says this of its cluster.
async fn node(state: &'static str, epoch: u64, ranges: &'static [(u16, u16, u16)]) -> Scripted {
    let mut node = Scripted::bind().await;
    node.answer(move |command| match command {
        "CLUSTER INFO" => cluster_info(state, epoch),
        "CLUSTER SLOTS" => cluster_slots(ranges),
        other => panic!("{other} was not expected"),
    });
    node
}

async fn view_when(topology: &Arc<Topology>, is_it: impl FnMut(&View) -> bool) -> View {
    let mut view = topology.view();
    let found = timeout(PATIENCE, view.wait_for(is_it)).await;
    found.expect("in time").expect("it is there").clone()
}

fn owner(view: &View, slot: u16) -> Option<u16> {
    view.map.owner(slot).map(|owner| owner.port)
}

#[tokio::test]
async fn a_node_says_which_one_has_which_slots() {
    let node = node("ok", 3, &[(0, 8191, 7001), (8192, 16383, 7002)]).await;
    // The first seed is gone.
    let mut gone = Scripted::bind().await;
    gone.close();
    let topology = topology(&[gone.port, node.port]);
    let view = view_when(&topology, |view| !view.map.is_empty()).await;
    assert_eq!((owner(&view, 8191), owner(&view, 8192)), (Some(7001), Some(7002)));
    assert_eq!(view.trouble, None);
}

#[tokio::test]
async fn a_node_that_is_cut_off_or_knows_less_is_passed_over() {
    let cut_off = node("fail", 9, &[(0, 16383, 7001)]).await;
    let outdated = node("ok", 3, &[(0, 16383, 7002)]).await;
    let current = node("ok", 4, &[(0, 16383, 7003)]).await;
    let topology = topology(&[cut_off.port, outdated.port, current.port]);
    topology.view.send_modify(|view| view.epoch = 4);
    let view = view_when(&topology, |view| !view.map.is_empty()).await;
    assert_eq!(owner(&view, 0), Some(7003));
}

#[tokio::test]
async fn the_best_answer_counts_when_no_node_is_up() {
    let nodes = [
        node("fail", 2, &[(0, 16383, 7001)]).await,
        node("fail", 3, &[(0, 16383, 7002)]).await,
    ];
    let topology = topology(&[nodes[0].port, nodes[1].port]);
    let view = view_when(&topology, |view| !view.map.is_empty()).await;
    assert_eq!(owner(&view, 0), Some(7002));
    let node = format!("127.0.0.1:{}", nodes[1].port);
    assert_eq!(view.trouble, Some(Trouble::Down(node)));
}

/// The words for the trouble of the cluster with this only node.
async fn check_trouble(node: &Scripted, expected: &str) {
    let topology = topology(&[node.port]);
    let view = view_when(&topology, |view| view.trouble.is_some()).await;
    let trouble = view.trouble.expect("it is some").to_string();
    assert!(trouble.contains(expected), "{trouble}");
    assert!(!trouble.contains("secret"), "{trouble}");
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let uncovered = node("fail", 1, &[(0, 16379, 7001)]).await;
    check_trouble(&uncovered, "4 of the 16384 slots have no primary").await;
    let mut alone = Scripted::bind().await;
    alone.answer(|_| DISABLED.to_owned());
    check_trouble(&alone, "it is no node of a Redis Cluster (cluster-enabled no)").await;
    let mut locked = Scripted::bind().await;
    locked.answer(|_| "-NOAUTH Authentication required.\r\n".to_owned());
    check_trouble(&locked, "expected a password: --redis_url redis://:PASSWORD@HOST").await;
    let mut encrypted = Scripted::bind().await;
    encrypted.answer(|_| String::new());
    check_trouble(&encrypted, "needs rediss://").await;
}

#[tokio::test]
async fn a_connection_learns_that_its_node_is_no_longer_the_right_one() {
    let node = node("ok", 1, &[(0, 8191, 7001), (8192, 16383, 7002)]).await;
    let topology = topology(&[node.port]);
    let mut members = topology.members(Some(5)).await.expect("the slot has a primary");
    let mut member = members.remove(0);
    assert_eq!((member.address().port, members.len()), (7001, 0));
    let at = |port| Address {
        host: "127.0.0.1".to_owned(),
        port,
    };
    topology.moved(6, &at(7002));
    topology.moved(5, &at(7003));
    let moved = member.moved().await.to_string();
    assert_eq!(
        moved,
        "127.0.0.1:7001 no longer has the slots that this connection needs"
    );
}

#[tokio::test]
async fn what_a_node_says_to_one_connection_others_know() {
    let node = node("ok", 1, &[(0, 16383, 7001)]).await;
    let topology = topology(&[node.port]);
    let members = topology.members(None).await.expect("there is a primary");
    let error = members[0]
        .refused("MOVED 5 127.0.0.1:7002".to_owned())
        .to_string();
    assert_eq!(
        error,
        "127.0.0.1:7001 no longer has the slots that this connection needs"
    );
    let members = topology.members(Some(5)).await.expect("the slot has a primary");
    assert_eq!(members[0].address().port, 7002);
    let error = members[0].refused("TRYAGAIN later".to_owned()).to_string();
    assert_eq!(error, "Redis refused the command: TRYAGAIN later");
}
