//! Requests to the server over HTTP: its metrics, and broadcasts.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::KEY;
use crate::bench::Error;

/// The path of the metrics.
pub(super) const PATH: &str = "/metrics";

/// The longest time that a server takes for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The sum of all series of a metric whose labels contain `label`.
pub(super) fn metric(address: SocketAddr, name: &'static str, label: &str) -> Result<f64, Error> {
    let head = format!("GET {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let page = exchange(address, head.as_bytes()).map_err(Error::Request)?;
    sum(&page, name, label).ok_or(Error::Metric(name))
}

/// Publishes messages: pairs of a stream and the JSON text of a message.
pub(super) fn publish<'a>(
    address: SocketAddr,
    messages: impl IntoIterator<Item = (String, &'a str)>,
) -> Result<(), Error> {
    let list = messages
        .into_iter()
        .map(|(stream, data)| serde_json::json!({ "stream": stream, "data": data }));
    let body = serde_json::Value::from_iter(list).to_string();
    let head = format!(
        "POST /_broadcast HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {KEY}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    exchange(address, head.as_bytes()).map_err(Error::Request)?;
    Ok(())
}

/// The answer to a request, if it is a success.
fn exchange(address: SocketAddr, request: &[u8]) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 2") {
        return Ok(answer);
    }
    let line = answer.lines().next().unwrap_or("nothing").to_owned();
    Err(io::Error::other(format!("the server answered {line}")))
}

/// Names have a prefix that the server's settings choose. `None` if there is no such series.
fn sum(page: &str, name: &str, label: &str) -> Option<f64> {
    let values = page.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (known, labels) = series.split_once('{').unwrap_or((series, ""));
        let is_wanted = known.ends_with(name) && labels.contains(label) && !line.starts_with('#');
        is_wanted.then_some(value.trim().parse::<f64>().ok()?)
    });
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_found_by_their_name_and_label() {
        let page = "# HELP x_calls 9\nx_calls{command=\"connect\",status=\"ok\"} 3\n\
                    x_calls{command=\"connect\",status=\"error\"} 1\nx_calls{command=\"perform\"} 5\nx_bytes 7\n";
        assert_eq!(sum(page, "_calls", "command=\"connect\""), Some(4.0));
        assert_eq!(sum(page, "_calls", ""), Some(9.0));
        assert_eq!(sum(page, "_bytes", ""), Some(7.0));
        assert_eq!(sum(page, "_num", ""), None);
    }
}
