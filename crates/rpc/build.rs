//! Generates the messages of `proto/rpc.proto` with compilers in Rust, so that nobody needs to install `protoc`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto/rpc.proto");
    let descriptors = protox::compile(["proto/rpc.proto"], ["proto"])?;
    prost_build::Config::new()
        .btree_map(["."])
        .compile_fds(descriptors)?;
    Ok(())
}
