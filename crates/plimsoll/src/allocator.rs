//! The allocator of the whole program: one that gives memory back after a flood.
//!
//! glibc's keeps what many small blocks took, for good. jemalloc's threads in the background return it within ten seconds
//! or so, whether or not anything else happens; decision 10 has the figures.

/// musl has no such threads, so a build for it keeps musl's own.
#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
