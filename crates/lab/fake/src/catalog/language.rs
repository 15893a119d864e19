//! Languages.

use super::address::code_and_name;
use crate::{
    function::{Function, text, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("language", |generator| {
        code_and_name(generator, LANGUAGES).1.to_owned()
    }),
    text("languageAbbreviation", |generator| {
        code_and_name(generator, LANGUAGES).0.to_owned()
    }),
    word("languageBcp", TAGS),
    word("programmingLanguage", OF_PROGRAMS),
];

/// Codes (ISO 639) and names.
const LANGUAGES: Words = words(
    "af Afrikaans, ar Arabic, bn Bengali, bg Bulgarian, ca Catalan, zh Chinese, hr Croatian, cs Czech, da \
     Danish, nl Dutch, en English, et Estonian, fi Finnish, fr French, de German, el Greek, he Hebrew, hi \
     Hindi, hu Hungarian, is Icelandic, id Indonesian, ga Irish, it Italian, ja Japanese, ko Korean, lv \
     Latvian, lt Lithuanian, mi Maori, no Norwegian, fa Persian, pl Polish, pt Portuguese, ro Romanian, sr \
     Serbian, sk Slovak, sl Slovenian, es Spanish, sw Swahili, sv Swedish, tr Turkish, uk Ukrainian, vi \
     Vietnamese, cy Welsh, zu Zulu",
);
/// Tags of languages with regions (BCP 47).
const TAGS: Words = words(
    "cs-CZ, da-DK, de-AT, de-CH, de-DE, el-GR, en-AU, en-CA, en-GB, en-IE, en-IN, en-US, es-AR, es-ES, \
     es-MX, fi-FI, fr-BE, fr-CA, fr-FR, hu-HU, it-IT, ja-JP, ko-KR, nb-NO, nl-NL, pl-PL, pt-BR, pt-PT, \
     ro-RO, sv-SE, tr-TR, uk-UA, zh-CN, zh-TW",
);
const OF_PROGRAMS: Words = words(
    "Ada, Assembly, C, C#, C++, Clojure, COBOL, Dart, Elixir, Erlang, Forth, Fortran, Go, Haskell, Java, \
     JavaScript, Julia, Kotlin, Lisp, Lua, OCaml, Pascal, Perl, PHP, Prolog, Python, R, Ruby, Rust, Scala, \
     Scheme, Smalltalk, Swift, TypeScript, Zig",
);
