// `stream/promises`.
const stream = require("stream");
exports.pipeline = (...streams) => new Promise((resolve, reject) => stream.pipeline(...streams, (error) => (error ? reject(error) : resolve())));
exports.finished = (one, options = {}) => new Promise((resolve, reject) => stream.finished(one, options, (error) => (error ? reject(error) : resolve())));
