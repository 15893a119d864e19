// `http`, the client: requests over the host's connections. Servers do not exist here.
module.exports = require("internal/http")("http:", 80);
