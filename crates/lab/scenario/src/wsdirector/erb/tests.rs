//! Tests of templates. `tests/foreign/wsdirector.test.mjs` compares many of them with Ruby's ERB.

use proptest::prelude::*;

use super::*;

fn known(name: &str) -> Option<String> {
    (name == "HOST").then(|| "here".to_owned())
}

fn filled(text: &str) -> Result<String, String> {
    fill_in("test.yml", text, 3, &known).map_err(|mistakes| mistakes.to_string())
}

#[test]
fn the_environment_is_filled_in() {
    let check = |text: &str, expected: &str| assert_eq!(filled(text).unwrap(), expected, "{text}");
    check("no code %> here", "no code %> here");
    check("a: <%= ENV[\"HOST\"] %>!", "a: here!");
    check("<%=ENV['HOST']-%>", "here");
    check(
        "<%= ENV[\"HOST\"] || \"x\" %> <%= ENV[\"NONE\"] || 'a b' %>",
        "here a b",
    );
    check(
        "<%= ENV.fetch(\"HOST\") %> <%= ENV.fetch('NONE', 10) %>",
        "here 10",
    );
    check(
        "<%= ENV.fetch( 'NONE' , \"x\" ) %><%= ENV.fetch(\"NONE\") { 1 + 1 } %>",
        "x2",
    );
    check("<%# a comment %>é<%% x", "é<% x");
    check("<%= (ENV[\"NONE\"] || 5).to_i * 2 %>", "10");
    check("<% if ENV.key?(\"HOST\") %>y<% else %>n<% end %>", "y");
}

#[test]
fn code_is_rubys() {
    let check = |text: &str, expected: &str| assert_eq!(filled(text).unwrap(), expected, "{text}");
    check(
        "<%= scale %> <%= scale * 2 %> <%= scale / 2 %> <%= -7 / 2 %> <%= -7 % 3 %>",
        "3 6 1 -4 2",
    );
    check(
        "<%= 2 ** 10 %> <%= -2 ** 2 %> <%= 7 / 2.0 %> <%= 1e20 %> <%= 0.00001 %>",
        "1024 -4 3.5 1.0e+20 1.0e-05",
    );
    check("<% 3.times do |i| %><%= i %>,<% end %>", "0,1,2,");
    check("<% (1..3).each { |i| %><%= i %><% } %>", "123");
    check(
        "<% (1...3).each_with_index do |x, i| %><%= x * i %> <% end %>",
        "0 2 ",
    );
    check("<% i = 0 %><% while i < 3 do %><%= i += 1 %><% end %>", "123");
    check("<% for x in [1, 2] do %><%= x %><% end %>", "12");
    check("<% x = 5; y = x > 3 ? \"big\" : 'small' %><%= y %>", "big");
    check("<%= [1, 2, 3].map { |n| n * scale }.join(\", \") %>", "3, 6, 9");
    check(
        "<%= {\"a\" => 1, b: [nil, true]}.to_json %>",
        "{\"a\":1,\"b\":[null,true]}",
    );
    check(
        "<%= \"user_#{scale + 1}\" %> <%= format(\"%03d %.1f\", 7, 2.25) %>",
        "user_4 007 2.2",
    );
    check(
        "<% 5.times do |i| next if i.even?; break if i > 3 %><%= i %><% end %>",
        "13",
    );
    check("<% unless scale == 3 %>a<% else %>b<% end %>", "b");
    check(
        "<% if scale > 5 %>a<% elsif scale > 2 %>b<% else %>c<% end %>",
        "b",
    );
    check(
        "<%= 12345.to_s.rjust(8, \"0\") %> <%= \"a b\".upcase %> <%= nil.to_i %>",
        "00012345 A B 0",
    );
    check(
        "<%= 1.upto(3) { |i| } %> <%= [3, 1, 2].sort.inspect %>",
        "1 [1, 2, 3]",
    );
    check("<% x = 1 %><% 2.times { x += 1; y = x } %><%= x %>", "3");
    check(
        "a\n  <%- 2.times do |i| -%>\n- <%= i %>\n  <%- end -%>\nz\n",
        "a\n- 0\n- 1\nz\n",
    );
}

#[test]
fn chance_is_within_its_limits() {
    for _ in 0..200 {
        let number: i64 = filled("<%= rand(3) %>").unwrap().parse().unwrap();
        assert!((0..3).contains(&number), "{number}");
        let number: i64 = filled("<%= rand(5..6) %>").unwrap().parse().unwrap();
        assert!((5..=6).contains(&number), "{number}");
        let number: f64 = filled("<%= rand %>").unwrap().parse().unwrap();
        assert!((0.0..1.0).contains(&number), "{number}");
        assert!(["a", "b"].contains(&filled("<%= [\"a\", \"b\"].sample %>").unwrap().as_str()));
    }
    let uuid = filled("<%= SecureRandom.uuid %>").unwrap();
    assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
    assert_eq!(filled("<%= SecureRandom.hex(4) %>").unwrap().len(), 8);
}

#[test]
fn mistakes_have_their_place() {
    let check = |text: &str, expected: &str| {
        let error = filled(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check(
        "- é: <%= ENV[\"NONE\"] %>",
        "test.yml:1:10: the variable NONE is not set; set it, or write a default",
    );
    check(
        "\n  <%= foo %>",
        "test.yml:2:7: `foo` is neither a variable nor a function",
    );
    check("<%= 1 / 0 %>", "this divides by zero");
    check("<%= 1 + \"a\" %>", "`+` does not work for an integer and a text");
    check("<%= 9223372036854775807 + 1 %>", "too large for a whole number");
    check(
        "<%= \"a\".frobnicate %>",
        "the method frobnicate of a text is not supported",
    );
    check(
        "<%= File.read(\"/etc/passwd\") %>",
        "the constant File is not supported",
    );
    check(
        "<% system(\"ls\") %>",
        "the function system with 1 arguments is not supported",
    );
    check("<% `ls` %>", "'`' is not supported in a template");
    check("<% def x; end %>", "`def` is not supported");
    check(
        "<% require \"net/http\" %>",
        "the library \"net/http\" is not supported",
    );
    check(
        "<% 3.times do |i| %>",
        "expected `end`; the template ends too early",
    );
    check("<% end %>", "unexpected end");
    check("<%= \"a %>", "this text has no closing quote");
    check("<%= ENV[\"A\"", "`<%` without `%>`");
    check("<%>", "`<%` without `%>`");
    check("<% while true %><% end %>", "is this a loop without an end?");
    check("<%= \"abcdefgh\" * 99999999 %>", "more than 256 MiB");
    check("<% a = \"a\"; 99.times { a = a + a } %>", "more than 256 MiB");
    check("<%= (1..99999999).map { |i| i } %>", "is too long");
    check(&format!("<%= {} %>", "(".repeat(9999)), "levels of code");
    check(&format!("<%= {}1 %>", "1+".repeat(9999)), "in a row");
    check(&format!("<%= 1{} %>", ".to_s".repeat(9999)), "in a row");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(<%=?|%>|-|ENV|scale|x|do|end|if|else|times|\\.|rand|\\[|\\]|\\{|\\}|\\(|\\)|\\||\"|'|#|:|\\?|\\*|/|=|<|0|1|9|é| |\n){0,40}") {
        let _ = filled(&text);
    }

    #[test]
    fn whole_numbers_are_divided_as_in_ruby(a in -100_i64..100, b in -9_i64..9) {
        prop_assume!(b != 0);
        let expected = format!("{} {}", (a as f64 / b as f64).floor(), a - b * (a as f64 / b as f64).floor() as i64);
        prop_assert_eq!(filled(&format!("<%= {a} / {b} %> <%= {a} % {b} %>")).unwrap(), expected.replace("-0 ", "0 "));
    }
}
