// `https`, the client.
module.exports = require("internal/http")("https:", 443);
