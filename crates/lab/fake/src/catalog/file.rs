//! Kinds of files.

use crate::{
    function::{Function, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("fileExtension", EXTENSIONS),
    word("fileMimeType", MEDIA_TYPES),
];

const EXTENSIONS: Words = words(
    "avi, bmp, csv, doc, docx, epub, flac, gif, gz, html, ics, jpg, json, log, md, mp3, mp4, ods, odt, ogg, \
     pdf, png, pptx, rtf, svg, tar, tiff, txt, wav, webm, webp, xlsx, xml, yaml, zip",
);
const MEDIA_TYPES: Words = words(
    "application/gzip, application/json, application/msword, application/octet-stream, application/pdf, \
     application/xml, application/zip, audio/flac, audio/mpeg, audio/ogg, font/woff2, image/avif, \
     image/gif, image/jpeg, image/png, image/svg+xml, image/webp, text/calendar, text/css, text/csv, \
     text/html, text/markdown, text/plain, video/mp4, video/webm",
);
