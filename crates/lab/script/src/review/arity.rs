//! Calls with too few arguments, for functions that then always throw.

/// A function that throws with fewer arguments.
struct Required {
    module: &'static str,
    function: &'static str,
    /// An example with all required arguments.
    example: &'static str,
    n_arguments: usize,
}

const REQUIRED: &[Required] = &[
    Required {
        module: "k6",
        function: "check",
        example: "check(response, { \"status is 200\": (r) => r.status === 200 })",
        n_arguments: 2,
    },
    Required {
        module: "k6",
        function: "group",
        example: "group(\"name\", () => { … })",
        n_arguments: 2,
    },
    Required {
        module: "k6/http",
        function: "get",
        example: "http.get(\"https://example.com\")",
        n_arguments: 1,
    },
    Required {
        module: "k6/http",
        function: "post",
        example: "http.post(\"https://example.com\", { name: \"value\" })",
        n_arguments: 1,
    },
    Required {
        module: "k6/x/cable",
        function: "connect",
        example: "cable.connect(\"ws://localhost:8080/cable\")",
        n_arguments: 1,
    },
];

/// The problem of a call with this number of arguments; `None` if it may succeed.
pub(super) fn problem(module: &str, function: &str, n_arguments: usize) -> Option<String> {
    let mut required = REQUIRED.iter();
    let required = required.find(|known| known.module == module && known.function == function)?;
    if n_arguments >= required.n_arguments {
        return None;
    }
    let (expected, example) = (required.n_arguments, required.example);
    let arguments = if expected == 1 { "argument" } else { "arguments" };
    Some(format!(
        "has {n_arguments} of at least {expected} {arguments}; expected: {example}"
    ))
}

#[cfg(test)]
mod tests;
