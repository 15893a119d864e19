//! Broadcasts of applications: what is published is JSON, and there is something to publish.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_cable::broadcast::{self, Broadcast};

fuzz_target!(|body: &[u8]| {
    match broadcast::parse(body) {
        Ok(Broadcast::Publications(publications)) => {
            for publication in publications {
                assert!(serde_json::from_str::<serde::de::IgnoredAny>(&publication.message).is_ok());
            }
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
