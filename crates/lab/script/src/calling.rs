//! Whose code calls a function of the host: read from the stack of the script.

use rquickjs::Ctx;

/// The most frames that are looked at; a script that is nested deeper is known by the outermost of these.
const MOST_FRAMES: isize = 1_000;

/// The number of functions on the stack, that of a module's own code included.
pub(crate) fn n_frames(ctx: &Ctx<'_>) -> isize {
    // Frames of native functions have no name, so the outermost one that has a name tells.
    let is_named = |level: &isize| ctx.script_or_module_name(*level).is_some();
    (0..MOST_FRAMES)
        .rev()
        .find(is_named)
        .map_or(0, |outermost| outermost + 1)
}

/// The module in whose text the function at this level stands; 0 is the innermost.
pub(crate) fn module_at(ctx: &Ctx<'_>, level: isize) -> Option<String> {
    ctx.script_or_module_name(level)?.to_string().ok()
}
