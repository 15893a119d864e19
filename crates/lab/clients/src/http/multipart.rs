//! Bodies of forms in several parts (RFC 7578).

/// One part of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormPart<'a> {
    /// The field.
    pub name: &'a str,
    /// The file name, if the part is a file.
    pub filename: Option<&'a str>,
    /// The media type. `None` means text.
    pub content_type: Option<&'a str>,
    /// What is in it.
    pub data: &'a [u8],
}

/// The media type of a form, with its boundary, and the body. The boundary is random, so that
/// the data cannot contain it.
pub fn multipart<'a>(parts: impl IntoIterator<Item = FormPart<'a>>) -> (String, Vec<u8>) {
    let boundary = format!("{:032x}{:016x}", fastrand::u128(..), fastrand::u64(..));
    let mut body = Vec::new();
    for part in parts {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(part.name)
        );
        if let Some(filename) = part.filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        if let Some(content_type) = part.content_type {
            let content_type = content_type.replace(['\r', '\n'], " ");
            head.push_str(&format!("\r\nContent-Type: {content_type}"));
        }
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(part.data);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Quotes a name like browsers (HTML §4.10.22.8).
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_boundaries() {
        let text = FormPart {
            name: "a\"b",
            filename: None,
            content_type: None,
            data: b"x",
        };
        let file = FormPart {
            name: "f",
            filename: Some("a\r\n.txt"),
            content_type: Some("text/plain\r\nx: y"),
            data: b"\x00\r\n",
        };
        let (content_type, body) = multipart([text, file]);
        let boundary = content_type.split_once("boundary=").unwrap().1;
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\nx\r\n--{boundary}\r\nContent-Disposition: \
             form-data; name=\"f\"; filename=\"a%0D%0A.txt\"\r\nContent-Type: text/plain  x: y\r\n\r\n\0\r\n\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
}
