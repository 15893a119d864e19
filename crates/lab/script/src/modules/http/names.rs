//! Names of header fields as Go, and so k6, writes them: `content-type` is `Content-Type`.

/// The name with the first letter of each word in upper case and all other letters in lower case.
pub(in crate::modules) fn canonical(name: &str) -> String {
    let mut is_first = true;
    let canonical = name.chars().map(|c| {
        let c = if is_first {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        };
        is_first = c == '-';
        c
    });
    canonical.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_in_upper_case() {
        let names = ["content-type", "ETAG", "x-aB-c", ""];
        assert_eq!(names.map(canonical), ["Content-Type", "Etag", "X-Ab-C", ""]);
    }
}
