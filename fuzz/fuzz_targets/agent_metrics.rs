//! Metrics that an agent sends: what is added once can be added again, and be sent on.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use plimsoll_load::metrics::{Contains, MetricSet, Registry, wire::Metrics};

static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let mut registry = Registry::new();
    registry.counter("sent", Contains::Default).unwrap();
    registry.gauge("vus", Contains::Default).unwrap();
    registry.rate("failed").unwrap();
    registry.trend("rtt").unwrap();
    registry.trend_of("size", Contains::Data).unwrap();
    registry.check("connected");
    registry.break_down();
    Arc::new(registry)
});

fuzz_target!(|data: &[u8]| {
    let Ok(metrics) = serde_json::from_slice::<Metrics>(data) else { return };
    // Places that were admitted stay so, and each input shall have the choice.
    let registry = Arc::new(Registry::clone(&REGISTRY));
    let mut total = MetricSet::new(registry);
    if total.add_wire(&metrics).is_ok() {
        let before = total.clone();
        total.add_wire(&metrics).unwrap();
        let onward = serde_json::to_string(&total.since(&before).to_wire()).unwrap();
        let received = serde_json::from_str(&onward).unwrap();
        before.empty().add_wire(&received).unwrap();
    }
});
