//! Words that connect sentences. Their names are those of gofakeit.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("connective", |generator| connective(generator).to_owned()),
    word("connectiveCasual", OF_CAUSES),
    word("connectiveComparitive", OF_COMPARISON),
    word("connectiveComplaint", OF_CONTRAST),
    word("connectiveExamplify", OF_EXAMPLES),
    word("connectiveListing", OF_LISTS),
    word("connectiveTime", OF_TIME),
];

const OF_CAUSES: Words = words(
    "accordingly, as a result, because, consequently, due to, for this reason, hence, since, so, therefore, \
     thus",
);
const OF_COMPARISON: Words =
    words("also, as well as, by the same token, equally, in comparison, in the same way, just as, similarly");
const OF_CONTRAST: Words = words(
    "although, apart from, but, despite, even so, except, however, instead, nevertheless, still, though, \
     whereas, yet",
);
const OF_EXAMPLES: Words = words(
    "as shown by, for example, for instance, in other words, in particular, namely, notably, such as, to \
     illustrate",
);
const OF_LISTS: Words = words(
    "at last, first of all, firstly, in the first place, lastly, next, secondly, thirdly, to begin with",
);
const OF_TIME: Words = words(
    "after a while, afterwards, at the same time, finally, in the meantime, meanwhile, since then, then, \
     until now, when",
);

fn connective(generator: &mut Generator) -> &'static str {
    let kind = generator.one_of(&[
        OF_CAUSES,
        OF_COMPARISON,
        OF_CONTRAST,
        OF_EXAMPLES,
        OF_LISTS,
        OF_TIME,
    ]);
    generator.pick(kind)
}
