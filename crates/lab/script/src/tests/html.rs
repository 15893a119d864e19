//! `k6/html`: pages as scripts read them, and what is sent for their forms and links.

use super::*;

const PAGE: &str = r##"<!doctype html><html lang="en"><head><title>Rooms</title>
  <meta name="action-cable-url" content="ws://127.0.0.1/cable"><meta name="csrf-token" content="abc&amp;d"></head>
  <body><h1 id="top" class="big bold">Hello <b>there</b></h1>
  <ul><li class="a">one</li><li class="b" data-room-id="7" data-ok="true" data-list="[1,2]" data-text="07">two</li><li class="c">three</li><!-- end --></ul>
  <div id="messages"><turbo-cable-stream-source channel="Turbo::StreamsChannel" signed-stream-name="s1"></turbo-cable-stream-source></div>
  <turbo-stream action="append"><template><p class="message">new</p></template></turbo-stream>
  <a name="nowhere">x</a><a href="/next?page=2">Next</a>
  <form id="say" method="post" action="/say">
    <input type="hidden" name="token" value="t&quot;1"><input name="empty"><input value="nameless">
    <input type="checkbox" name="box" checked><input type="checkbox" name="off" value="1">
    <input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>
    <input type="file" name="file"><input name="gone" value="x" disabled><fieldset disabled><input name="set" value="x"></fieldset>
    <select name="one"><option disabled value="">Choose</option><option>First  choice</option><option value="2">Second</option></select>
    <select name="many" multiple><option value="a" selected><option value="b"><option value="c" selected></select>
    <textarea name="text">
a &lt; b</textarea>
    <button name="go" value="now" type="submit">Go</button></form></body></html>"##;

/// Expects each of the conditions of `page`, the selection of [`PAGE`].
async fn check_page(conditions: &[&str]) {
    let entries = conditions
        .iter()
        .map(|condition| format!("{}: () => ({condition}),", json(condition)));
    let entries: String = entries.collect();
    let text = format!(
        "import {{ parseHTML }} from 'k6/html'; import {{ fail }} from 'k6';
         const page = parseHTML({});
         const texts = (selection) => selection.toArray().map((one) => one.text()).join();
         const conditions = {{ {entries} }};
         export default () => {{ for (const name in conditions) if (conditions[name]() !== true) fail(name) }}",
        json(PAGE)
    );
    check(&text, &[]).await;
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[tokio::test(start_paused = true)]
async fn pages_are_read_with_selectors() {
    check_page(&[
        "page.find('meta[name=action-cable-url]').attr('content') === 'ws://127.0.0.1/cable'",
        "page.find('meta[name=csrf-token]').attr('content') === 'abc&d'",
        "page.find('#messages turbo-cable-stream-source').attr('signed-stream-name') === 's1'",
        "page.find('turbo-stream template .message').text() === 'new'",
        "page.find('turbo-stream').html().includes('<template><p class=\"message\">new</p></template>')",
        "!!page.find('none') && page.find('none').size() === 0 && page.find('none').text() === '' && page.find('none').html() === ''",
        "page.find('none').attr('x') === undefined && page.find('h1').attr('x') === undefined && page.find('h1').attr('x', 'y') === 'y'",
        "page.find('h1').text() === 'Hello there' && page.find('h1').html() === 'Hello <b>there</b>'",
        "page.find('li').size() === 3 && texts(page.find('li:not(.b)')) === 'one,three'",
        "page.find('input:checked').size() === 2 && page.find('option:checked').size() === 2 && page.find('body, :root').size() === 2",
        "page.find('input:disabled').size() === 2 && page.find('form > :input').size() === page.find('form').children().not('fieldset').size()",
        "page.find('a:contains(\":checked\")').size() === 0 && page.find('[name=\":input\"]').size() === 0",
        "texts(page.find('a:contains(\"Next\")')) === 'Next' && page.find('ul:has(.b)').size() === 1",
        "texts(page.find('ul').find('li:nth-child(2)')) === 'two' && page.find('body, ul').find('li').size() === 3",
        "texts(page.find('li').filter('.a, .c')) === 'one,three' && texts(page.find('li').not('.a')) === 'two,three'",
        "texts(page.find('li').filter((i, li) => i > 0 && li.attr('class') !== 'c')) === 'two'",
        "texts(page.find('li').not(page.find('.b'))) === 'one,three' && page.find('li').filter(page.find('li').get(1)).text() === 'two'",
        "page.find('li').is('.b') && !page.find('li').is('ul') && page.find('ul').has('.c').size() === 1 && page.find('ul').has('b').size() === 0",
        "page.find('b').closest('h1').attr('id') === 'top' && page.find('b').closest('ul').size() === 0",
        "texts(page.find('.a').add('.c').add(page.find('b'))) === 'one,three,there'",
        "page.find('ul').children().size() === 3 && texts(page.find('ul').children('.b')) === 'two' && page.find('ul').contents().size() === 4",
        "page.find('b').parent().is('h1') && page.find('b').parent('ul').size() === 0",
        "page.find('b').parents().map((i, p) => p.get(0).nodeName()).join() === 'h1,body,html'",
        "page.find('b').parentsUntil('html').size() === 2 && page.find('b').parentsUntil('html', 'body').size() === 1",
        "texts(page.find('.a').next()) === 'two' && texts(page.find('.a').nextAll()) === 'two,three' && texts(page.find('.a').nextUntil('.c')) === 'two'",
        "texts(page.find('.c').prev()) === 'two' && texts(page.find('.c').prevAll()) === 'two,one' && texts(page.find('.c').prevUntil('.a')) === 'two'",
        "texts(page.find('.b').siblings()) === 'one,three' && texts(page.find('.b').siblings('.c')) === 'three'",
        "texts(page.find('li').eq(1)) === 'two' && texts(page.find('li').eq(-1)) === 'three' && page.find('li').eq(3).size() === 0",
        "texts(page.find('li').first()) === 'one' && texts(page.find('li').last()) === 'three'",
        "texts(page.find('li').slice(1)) === 'two,three' && texts(page.find('li').slice(0, -1)) === 'one,two' && page.find('li').slice(2, 1).size() === 0",
        "page.find('ul').find('li').end().is('ul') && page.find('ul').end().end().size() === 0",
        "page.find('.b').index() === 1 && page.find('.b').index('li') === 1 && page.find('li').index(page.find('.c')) === 2 && page.find('li').index('h1') === -1",
        "page.find('li').get(-1).textContent() === 'three' && page.find('li').get(9) === undefined && page.find('li').get().length === 3",
        "(() => { const seen = []; page.find('li').each((i, li) => seen.push(i + li.className())); return seen.join() === '0a,1b,2c' })()",
        "page.find('li').map((i, li) => i + li.text().length).join() === '3,4,7'",
        "page.find('.b').data('room-id') === 7 && page.find('.b').data('roomId') === 7 && page.find('.b').data('none') === undefined",
        "JSON.stringify(page.find('.b').data()) === '{\"roomId\":7,\"ok\":true,\"list\":[1,2],\"text\":\"07\"}'",
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn elements_are_read_as_in_the_dom() {
    check_page(&[
        "page.find('h1').get(0).nodeName() === 'h1' && page.find('h1').get(0).nodeType() === 1 && page.get(0).nodeName() === '#document'",
        "page.find('h1').get(0).id() === 'top' && page.find('h1').get(0).classList().join() === 'big,bold'",
        "page.find('h1').get(0).attributes().class.value === 'big bold' && page.find('h1').get(0).getAttributeNode('ID').name === 'id'",
        "page.find('h1').get(0).hasAttribute('id') && !page.find('h1').get(0).hasAttribute('x') && page.find('h1').get(0).getAttribute('x') === undefined",
        "page.find('h1').get(0).firstChild().nodeValue() === 'Hello ' && page.find('h1').get(0).firstElementChild().innerHTML() === 'there'",
        "page.find('ul').get(0).lastChild().nodeName() === '#comment' && page.find('ul').get(0).lastElementChild().textContent() === 'three'",
        "page.find('ul').get(0).childElementCount() === 3 && page.find('ul').get(0).childNodes().length === 4 && page.find('ul').get(0).children()[1].className() === 'b'",
        "page.find('.b').get(0).nextElementSibling().className() === 'c' && page.find('.b').get(0).previousSibling().className() === 'a'",
        "page.find('b').get(0).parentElement().id() === 'top' && page.find('html').get(0).parentElement() === undefined",
        "page.find('ul').get(0).contains(page.find('.b').get(0)) && !page.find('.b').get(0).contains(page.find('ul').get(0))",
        "page.find('.b').get(0).isSameNode(page.find('li').get(1)) && !page.find('.a').get(0).isEqualNode(page.find('.b').get(0))",
        "page.find('.b').get(0).matches('ul > .b') && page.find('ul').get(0).querySelector('.c').textContent() === 'three'",
        "page.find('ul').get(0).querySelectorAll('li').length === 3 && page.find('body').get(0).getElementsByClassName('bold big').length === 1",
        "page.get(0).getElementsByTagName('li').length === 3 && page.find('b').get(0).ownerDocument().nodeType() === 9",
    ])
    .await;
}

/// `values-elements.js` under tests/foreign compares all of them with k6.
#[tokio::test(start_paused = true)]
async fn kinds_of_elements_have_methods_of_their_own() {
    check_page(&[
        "page.find('[name=box]').get(0).checked() === true && page.find('[name=box]').get(0).form().id() === 'say'",
        "page.find('h1').get(0).checked === undefined && page.find('b').get(0).href === undefined",
        "page.find('select').get(0).options().length > 1 && page.find('option').get(1).index() === 1",
        "page.find('form').get(0).elements().every((field) => field.nodeType() === 1)",
        "page.find('h1').single('b').text() === 'there' && page.single('li').text() === 'one' && page.single('h9').size() === 0",
        "page.find('b').get(0).selection().parent().is('h1') && page.get(0).toString() === '[object #document]'",
        "page.find('h1').get(0).namespaceURI() === 'http://www.w3.org/1999/xhtml' && page.find('h1').get(0).isDefaultNamespace()",
        "page.find('h1').get(0).getAttributeNode('id').localName() === 'id' && page.find('form').get(0).contains(page.find('[name=box]').get(0))",
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn forms_are_sent_as_browsers_do() {
    check_page(&[
        "page.find('#say').serialize() === 'token=t%221&empty=&box=on&r=2&one=First+choice&many=a&many=c&text=a+%3C+b'",
        "page.find('#say').serializeArray().map((field) => field.name).join() === 'token,empty,box,r,one,many,text'",
        "JSON.stringify(page.find('#say').serializeObject().many) === '[\"a\",\"c\"]' && page.find('[name=text]').serialize() === 'text=a+%3C+b'",
        "page.find('[name=token]').val() === 't\"1' && page.find('[name=empty]').val() === '' && page.find('[name=box]').val() === 'on' && page.find('textarea').val() === 'a < b'",
        "page.find('[name=one]').val() === 'First choice' && page.find('[name=many]').val().join() === 'a,c' && page.find('h1').val() === undefined",
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_said() {
    let import = "import { parseHTML } from 'k6/html'; export default () => ";
    for (text, expected) in [
        (
            "parseHTML('<p>').find('p[')",
            "the selector `p[` is not supported CSS",
        ),
        (
            "parseHTML('<p>').find(7)",
            "find() was given int; expected a selector",
        ),
        ("parseHTML('<p>').find('a'.repeat(2000))", "expected at most 1024"),
        (
            "parseHTML('<p>').find(':not('.repeat(17))",
            "nests parentheses 17 times",
        ),
        ("parseHTML('<div>'.repeat(100000))", "nests elements too deeply"),
        (
            "parseHTML('</html><!-- --><table>' + '<div>'.repeat(100000))",
            "nests elements too deeply",
        ),
        (
            "parseHTML(Array.from({ length: 9e4 }, (_, i) => `<p><b id=${i}></p>`).join(''))",
            "nests elements too deeply",
        ),
        ("parseHTML('<br>'.repeat(300000))", "the page is too large"),
        ("parseHTML('<p>').each(() => { throw new Error('mine') })", "mine"),
    ] {
        check_failure(&format!("{import}{text}"), expected).await;
    }
}

/// The native code that reads and matches runs on the small stack of the script.
#[tokio::test(start_paused = true)]
async fn deep_pages_and_long_selectors_fit_the_stack() {
    check(
        "import { parseHTML } from 'k6/html'; import { check } from 'k6';
         const deep = parseHTML('<div>'.repeat(900) + '<b>x</b>');
         const long = ['div>'.repeat(250) + 'b', 'div '.repeat(250) + 'b', ':not('.repeat(16) + 'b' + ')'.repeat(16), 'div~'.repeat(250) + 'b'];
         export default () => {
           let step = deep.find('b');
           for (let i = 0; i < 3000; i++) step = step.parent().children().first();
           check(deep, {
             found: (d) => d.find(long[0]).size() === 1 && d.find(long[1]).size() === 1 && d.find(long[2]).size() === 1 && d.find(long[3]).size() === 0,
             read: (d) => d.text() === 'x' && d.html().length > 9900 && d.find('b').parents().size() === 902,
             'back only so far': () => step.end().end().size() === 1 && Array.from({ length: 20 }).reduce((s) => s.end(), step).size() === 0,
           });
         }",
        &["checks=3/3"],
    )
    .await;
}
