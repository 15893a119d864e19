//! Types of the modules and globals, for editors and the TypeScript compiler.

/// The declarations by module. The first one has the globals, and the beginning of the file.
const PARTS: [&str; 23] = [
    include_str!("types/globals.d.ts"),
    include_str!("types/options.d.ts"),
    include_str!("types/k6.d.ts"),
    include_str!("types/cable.d.ts"),
    include_str!("types/crypto.d.ts"),
    include_str!("types/crypto_x509.d.ts"),
    include_str!("types/data.d.ts"),
    include_str!("types/encoding.d.ts"),
    include_str!("types/execution.d.ts"),
    include_str!("types/experimental_websockets.d.ts"),
    include_str!("types/experimental_csv.d.ts"),
    include_str!("types/experimental_fs.d.ts"),
    include_str!("types/experimental_streams.d.ts"),
    include_str!("types/experimental_webcrypto.d.ts"),
    include_str!("types/faker.d.ts"),
    include_str!("types/grpc.d.ts"),
    include_str!("types/html.d.ts"),
    include_str!("types/http.d.ts"),
    include_str!("types/metrics.d.ts"),
    include_str!("types/secrets.d.ts"),
    include_str!("types/timers.d.ts"),
    include_str!("types/websockets.d.ts"),
    include_str!("types/ws.d.ts"),
];

/// The text of one file of declarations (`.d.ts`) for all modules.
pub fn declarations() -> String {
    PARTS.join("\n")
}

#[cfg(test)]
mod tests;
