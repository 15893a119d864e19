// Pages, selected and read.
import { parseHTML } from "k6/html";
import { valuesOf } from "./values.js";

export { handleSummary } from "./data.js";

const page = parseHTML(`<!DOCTYPE html><html lang="en"><head><title>T &amp; t</title></head><body class="a  b">
<div id="one" data-count="5" data-flag="true" data-obj='{"a":1}' data-long-name="x" data-null="null" data-f="1.50" data-big="12345678901234567890" data-e="">  Hello <b>bold</b> x <i></i></div>
<ul class="l"><li class="x">1</li><li class="y">2</li><li class="x y">3</li>text<li>4</li></ul>
<form id="f" action="/go"><input name="t" value="v"><input name="e"><input type="checkbox" name="c1" checked><input type="checkbox" name="c2">
<input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>
<select name="s1"><option value="a">A</option><option value="b" selected>B</option></select>
<select name="m" multiple><option value="1" selected>1</option><option value="2">2</option><option selected>three</option></select>
<select name="m2" multiple><option value="1">1</option></select>
<textarea name="ta"> more
lines </textarea><input type="submit" name="sub" value="go"><button name="btn" value="bv">B</button><input type="file" name="file">
<input type="hidden" name="h" value="&lt;x&gt;"><input name="dis" value="1" disabled><input value="noname"></form>
<p><input name="arr[]" value="1"><select name="one"><option>x</option><option selected value="y">Y</option></select></p>
<a href="/x?a=1&b=2" title="q">link</a><p>p1<p>p2<script>var a="<b>"</script><template><span>tpl</span></template><noscript><em>ns</em></noscript></body></html>`);

const $ = (selector) => page.find(selector);
const element = (selector) => $(selector).get(0);

const functions = {};
const add = (name, value) => {
  functions[name] = value;
};

for (const selector of [
  "li", "LI", "ul > li", "b, i", ".x.y", "li.x ~ li", "li.x + li", "#one b", "nope", "li:first-child", "li:last-child",
  "li:nth-child(2n)", "li:nth-last-child(1)", "li:not(.x)", "li:only-child", "b:only-of-type", "i:empty", "div:has(b)",
  'li:contains("3")', 'a[href^="/x"]', '[class~="y"]', '[name="arr[]"]', "input:checked", "option:checked", "input:disabled",
  "form :enabled", "form :input", ":root", "noscript em", "template span", "*",
]) {
  add(`find ${selector}`, () => $(selector).toArray().map((one) => one.get(0).nodeName()));
  add(`text ${selector}`, () => $(selector).first().text());
}
for (const name of ["t", "e", "c1", "c2", "r", "s1", "m", "m2", "ta", "sub", "btn", "file", "h", "dis", "one"]) {
  add(`val ${name}`, () => $(`[name=${name}]`).val());
}
for (const selector of ["nope", "#one", "option", "ul", "li"]) add(`val of ${selector}`, () => $(selector).val());
for (const name of ["count", "flag", "obj", "longName", "long-name", "null", "f", "big", "e", "nope"]) {
  add(`data ${name}`, () => $("#one").data(name));
}
add("all data", () => {
  const data = $("#one").data();
  return Object.keys(data).sort().map((key) => [key, data[key]]);
});
add("no data", () => [$("nope").data("x"), $("nope").data(), $("a").data()]);
add("html", () => [$("#one").html(), $("title").html(), $("nope").html(), $("template").html()]);
add("texts", () => [$("#one").text(), $("title").text(), $("nope").text(), $("script").text()]);
add("attr", () => [$("a").attr("href"), $("a").attr("HREF"), $("a").attr("x"), $("a").attr("x", "d"), $("nope").attr("x", "d"), $("#one").attr("data-e")]);

const steps = {
  children: ["ul"], contents: ["ul"], parent: ["li"], parents: ["b"], next: ["li.x"], nextAll: ["li.y"], prev: [".y"],
  prevAll: ["li:last-child"], siblings: ["li.y"],
};
for (const [step, [selector]] of Object.entries(steps)) add(step, () => $(selector)[step]());
for (const step of ["children", "next", "nextAll", "prev", "prevAll", "siblings"]) add(`${step} .y`, () => $("ul, li")[step](".y"));
add("until", () => [
  $("b").parentsUntil("body"), $("b").parentsUntil("html", "div"), $("li").first().nextUntil(".y"), $("li").last().prevUntil(".x"),
]);
add("closest", () => [$("li").closest("ul"), $("ul").closest(".l"), $("b").closest("ul")]);
add("eq", () => [0, 1, -1, 99, -99].map((index) => $("li").eq(index)));
add("slices", () => [$("li").slice(1, 3), $("li").slice(1), $("li").slice(-2), $("li").slice(-3, -1)]);
add("ends", () => [$("li").first(), $("li").last(), $("nope").first(), $("li").get(0), $("li").get(-1), $("li").get(99)]);
add("index", () => [$("li.y").index(), $("li.y").index("li"), $("li").index($("li.y")), $("nope").index()]);
add("is", () => [$("li").is(".y"), $("li").is("ul"), $("li").is((index) => index === 2)]);
add("some", () => [
  $("div").has("b"), $("ul").has("b"), $("li").not(".x"), $("li").not((index) => index === 0), $("li").not($("li.y")),
  $("li").filter(".x"), $("li").filter((index) => index % 2 === 0), $("b").add("i"), $("b").add($("li")), $("ul").find("li").end(),
]);
add("each", () => {
  const seen = [];
  $("li").each((index, li) => seen.push(index + li.textContent()));
  return seen;
});
add("map", () => $("li").map((index, li) => li.text() + index));
add("serialized", () => [$("p *").serialize(), $("p *").serializeArray().map(({ name, value }) => [name, value]), $("p *").serializeObject(), $("nope").serializeArray()]);

for (const method of [
  "nodeName", "nodeType", "nodeValue", "id", "className", "classList", "lang", "hasAttributes", "innerHTML", "textContent",
  "childElementCount", "hasChildNodes", "firstChild", "lastChild", "firstElementChild", "lastElementChild", "nextElementSibling",
  "parentNode", "parentElement", "children", "childNodes",
]) {
  add(`${method} of elements`, () => ["ul", "b", "li.x"].map((selector) => element(selector)[method]()));
  add(`${method} of a text`, () => {
    const text = $("b").contents().get(0);
    return method.includes("Child") ? "" : text[method]();
  });
}
add("attributes of elements", () => [
  element("a").getAttribute("href"), element("a").getAttribute("x"), element("a").hasAttribute("href"), element("a").hasAttribute("x"),
  Object.keys(element("a").attributes()).sort(), element("ul").querySelector(".nope"), element("ul").querySelectorAll("li"),
  element("ul").getElementsByTagName("li"), element("ul").getElementsByClassName("y"), element("ul").matches(".l"),
]);

export const setup = () => valuesOf(functions);

export default function () {}
