// What a Rails page says about its cables and forms. Documents are selections of k6/html.

/** The content, or another attribute, of the `<meta>` with this name. */
export function readMeta(doc, name, attr = "content") {
  return doc.find(`meta[name=${name}]`).attr(attr);
}

/** The URL of `action_cable_meta_tag`. */
export function cableUrl(doc) {
  return readMeta(doc, "action-cable-url");
}

/** The token of `csrf_meta_tags`. */
export function csrfToken(doc) {
  return readMeta(doc, "csrf-token");
}

/** The name of the parameter that carries the token. */
export function csrfParam(doc) {
  return readMeta(doc, "csrf-param");
}

/** The stream of the first `turbo_stream_from`, below a selector if there is one. */
export function turboStreamSource(doc, selector) {
  const source = doc.find(selector ? `${selector} turbo-cable-stream-source` : "turbo-cable-stream-source");
  return {
    streamName: source.attr("signed-stream-name"),
    channelName: source.attr("channel") || "Turbo::StreamsChannel",
  };
}
