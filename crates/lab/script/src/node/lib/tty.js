// `tty`: there is no terminal.
exports.isatty = () => false;
