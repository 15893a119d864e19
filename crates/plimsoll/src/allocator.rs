//! The allocator of the whole program: one that gives memory back after a flood.
//!
//! glibc's keeps what many small blocks took, for good. jemalloc's threads in the background return it within ten seconds
//! or so, whether or not anything else happens; decision 10 has the figures.

/// musl has no such threads, so a build for it keeps musl's own.
#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What jemalloc reads when the process starts (<https://jemalloc.net/jemalloc.3.html#tuning>): slabs of 64 KiB for blocks
/// from 512 bytes to 4 KiB, where its own are one page and more. It keeps 128 bytes for as many slabs as there ever were at
/// one time, for good: with messages of a kilobyte, a thirtieth of the most memory that was ever in use.
#[cfg(not(target_env = "musl"))]
#[expect(
    unsafe_code,
    reason = "the symbol of C's side is one that jemalloc declares for this, a pointer to text that ends with 0"
)]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 23] = b"slab_sizes:512-4096:16\0";
