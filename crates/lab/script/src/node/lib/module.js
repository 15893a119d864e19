// `module`: `createRequire`, for modules that have no `require`.
exports.createRequire = (from) => require.of(String(from));
exports.builtinModules = require.names;
exports.isBuiltin = (name) => require.names.includes(String(name).replace(/^node:/, ""));
