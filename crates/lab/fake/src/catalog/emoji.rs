//! Emojis.

use crate::{
    function::{Function, text},
    generator::Generator,
};

pub(super) const FUNCTIONS: &[Function] = &[
    text("emoji", |generator| emoji(generator).character.to_owned()),
    text("emojiAlias", |generator| {
        emoji(generator).description.replace(' ', "_")
    }),
    text("emojiCategory", |generator| emoji(generator).category.to_owned()),
    text("emojiDescription", |generator| {
        emoji(generator).description.to_owned()
    }),
    text("emojiTag", |generator| emoji(generator).tag.to_owned()),
];

#[derive(Clone, Copy)]
struct Emoji {
    character: &'static str,
    description: &'static str,
    tag: &'static str,
    category: &'static str,
}

const fn row(
    character: &'static str,
    description: &'static str,
    tag: &'static str,
    category: &'static str,
) -> Emoji {
    Emoji {
        character,
        description,
        tag,
        category,
    }
}

/// Characters with their names in Unicode and its groups.
const EMOJIS: &[Emoji] = &[
    row("😀", "grinning face", "happy", "Smileys & Emotion"),
    row("😂", "face with tears of joy", "laugh", "Smileys & Emotion"),
    row("😴", "sleeping face", "tired", "Smileys & Emotion"),
    row("🥶", "cold face", "freezing", "Smileys & Emotion"),
    row("👋", "waving hand", "hello", "People & Body"),
    row("👍", "thumbs up", "approve", "People & Body"),
    row("🦊", "fox", "animal", "Animals & Nature"),
    row("🦔", "hedgehog", "animal", "Animals & Nature"),
    row("🌵", "cactus", "desert", "Animals & Nature"),
    row("🍁", "maple leaf", "autumn", "Animals & Nature"),
    row("🍋", "lemon", "sour", "Food & Drink"),
    row("🥐", "croissant", "breakfast", "Food & Drink"),
    row("🍜", "steaming bowl", "noodles", "Food & Drink"),
    row("🚲", "bicycle", "ride", "Travel & Places"),
    row("⛵", "sailboat", "sea", "Travel & Places"),
    row("🌋", "volcano", "eruption", "Travel & Places"),
    row("🎈", "balloon", "party", "Activities"),
    row("🎻", "violin", "music", "Objects"),
    row("🔑", "key", "lock", "Objects"),
    row("📎", "paperclip", "office", "Objects"),
    row("✅", "check mark button", "done", "Symbols"),
    row("♻️", "recycling symbol", "reuse", "Symbols"),
    row("🏁", "chequered flag", "finish", "Flags"),
];

fn emoji(generator: &mut Generator) -> Emoji {
    generator.one_of(EMOJIS)
}
