// What the methods of all kinds of elements give, of a page without an address and of one with.
import http from "k6/http";
import { parseHTML } from "k6/html";
import { valuesOf } from "./values.js";

export { handleSummary } from "./data.js";

/** The page, which the server sends back as it was sent. */
const PAGE = `<!DOCTYPE html><html><head><title>T</title><base href="/b/" target="t"><link rel="icon next" href="/i.png" crossorigin="anonymous" hreflang="de">
<meta name="m" content="c" http-equiv="refresh"><style media="print">p{}</style><style type="x/y"></style><script src="s.js" async charset="utf-8">1<2</script></head><body>
<a id="a1" href="https://me:pw@host.example:8443/p/q.html?a=1&amp;b=2#frag" rel="nofollow me" target="_top" download="d" accesskey="k" hreflang="en" type="text/html" referrerpolicy="origin">A <b>x</b></a>
<a id="a2" href="/up?x#y">B</a><a id="a3">C</a><a id="a4" href="http://host.example:8080/x">D</a><a id="a6" href="">F</a>
<map id="map" name="mapname"><area href="/area"><area></map><img usemap="#map" src="i.png" alt="al" width="10" height="x" ismap crossorigin="nope" srcset="s" sizes="z" name="n">
<audio src="a.mp3" autoplay loop muted preload="none" crossorigin="use-credentials" mediagroup="g"><track src="t.vtt" kind="captions" srclang="en" label="L" default><track kind="odd"></audio><video controls></video>
<canvas></canvas><canvas width="5" height="-6"></canvas><data value="dv"></data><embed src="e" type="t" width="1" height="2"><iframe src="f.html" name="fr" allowfullscreen width="1"></iframe>
<ins cite="c" datetime="2020">i</ins><del>d</del><object data="o.swf" name="on" type="ot" usemap="#u" tabindex="3" typemustmatch form="f2"></object><param name="pn" value="pv">
<form id="f1" action="go" method="post" name="fn" target="ft" enctype="text/plain" accept-charset="utf-8" autocomplete="off" novalidate>
<label id="l1">Wrap <input id="i1" name="in" value="iv" list="dl" maxlength="5" size="7" tabindex="-1" required placeholder="ph" pattern="pa" autocomplete="off" autofocus accept="ac" min="1" max="9" step="2" dirname="di" multiple readonly></label><label id="l2" for="i1">For</label>
<input id="i2" type="checkbox" checked disabled><input id="i3" type="odd"><input id="i4" type="hidden" list="dl"><datalist id="dl"><option>d1</option></datalist>
<button id="b1">go <i>!</i></button><button id="b2" type="reset" value="bv" formaction="other" formmethod="GET" formenctype="multipart/form-data" formnovalidate formtarget="bt"></button>
<fieldset id="fs" name="fsn" disabled><legend accesskey="q">Leg</legend><input id="i5"><output id="o1" for="x y" name="oname">ou<b>t</b></output></fieldset>
<select id="s1" name="sn" required><option id="op1" value="1">one</option><optgroup label="G" disabled><option id="op2" selected label="lab">two</option><option id="op3" disabled value="3">three</option></optgroup></select>
<select id="s2" multiple><option>a</option></select><textarea id="ta" rows="3" cols="x" value="tv" wrap="hard" autocapitalize="words" maxlength="4" readonly>text</textarea>
<keygen id="kg" name="kn" keytype="DSA" challenge="ch"><meter id="me" min="1" max="9" high="7" low="2" optimum="5"></meter><progress id="pr" value="3" max="4"></progress><progress id="pr2"></progress><progress id="pr3" value="-1" max="z"></progress></form>
<form id="f2"></form><input id="i6" form="f2"><select id="s3" form="f2"><option id="op4">x</option></select><label id="l3" for="i6">Six</label><label id="l4" for="none">none</label>
<ol reversed start="4" type="A"><li value="7" type="i">x</li><li type="odd">y</li></ol><ul type="disc"></ul><pre name="pn" value="pv"></pre><time datetime="2020-01-01"></time><q cite="qc">q</q>
<table id="t1" sortable><caption>cap</caption><colgroup><col span="3"><col span="0"></colgroup><thead><tr id="r1"><th id="h1" abbr="ab" scope="row" sorted colspan="2">h</th></tr></thead><tbody><tr id="r2"><td id="c1" rowspan="3" headers="h1">1</td><td id="c2">2</td></tr><tr id="r3"></tr></tbody><tfoot></tfoot></table><table id="t2"></table>
<source src="s" media="m" sizes="z" srcset="ss" type="ty" keysystem="ks"><svg id="svg"><g></g></svg></body></html>`;

/** What every kind of element can have, in k6 2 and before. */
const METHODS = `abbr accept acceptCharset accessKey action allowfullscreen alt areas async autocapitalize autocomplete autofocus autoplay
caption cellIndex cells challenge charset checked cite colSpan cols content control controls crossOrigin currentSrc data datetime default
defaultChecked defaultMuted defaultSelected defaultValue defer dirName disabled download elements encoding enctype form formAction formEnctype
formMethod formNoValidate formTarget hash headers height high host hostname href hrefLang hreflang htmlFor httpEquiv images index isDefaultNamespace
isMap keySystem keytype kind label labels length list loop low max maxLength media mediaGroup method min multiple muted name namespaceURI noModule
noValidate optimum options origin password pathname pattern placeholder port position preload protocol readOnly readonly referrerPolicy rel relList
required reversed rowIndex rowSpan rows scope search sectionRowIndex selected selectedIndex selectedOptions size sizes sortable sorted span src
srclang srcset start step tBodies tFoot tHead tabIndex target text textTracks title toString type typeMustMatch useMap username validity value width wrap`.split(/\s+/);

function valuesIn(page, functions, where) {
  page.find("*").each((index, element) => {
    const own = METHODS.filter((name) => typeof element[name] === "function");
    functions[`${where} ${index} ${element.nodeName()} ${element.id() || ""}`] = () =>
      [own.join(), ...own.map((name) => element[name]())];
  });
  functions[`${where} selection`] = () => page.find("b").get(0).selection().parent().attr("id");
  functions[`${where} attribute`] = () => {
    const attribute = page.find("#a1").get(0).getAttributeNode("rel");
    return [attribute.name, attribute.value, attribute.localName(), attribute.prefix(), attribute.namespaceURI()];
  };
  functions[`${where} texts`] = () => page.find("b").contents().get().map((node) => node.toString());
}

export function setup() {
  const functions = {};
  valuesIn(parseHTML(PAGE), functions, "alone");
  valuesIn(http.post(`${__ENV.BASE}/page/here?q`, PAGE).html(), functions, "with an address");
  return valuesOf(functions);
}

export default function () {}
