// The documents are text: what looks like an element or a template of Vue is shown as it stands.

/** A plugin of markdown-it. Comments stay invisible. */
export function plainText(md) {
  const { escapeHtml } = md.utils;
  const shown = (tokens, place) => {
    const { content } = tokens[place];
    return content.trimStart().startsWith("<!--") ? "" : escapeHtml(content);
  };
  md.renderer.rules.html_inline = shown;
  md.renderer.rules.html_block = shown;
  for (const rule of ["text", "code_inline"]) {
    const written = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...all) => written(...all).replaceAll("{{", "&#123;&#123;");
  }
}
