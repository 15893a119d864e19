module.exports = { setItems, setHeader, readBody, emit, fails, isOdd, later, connectElsewhere };
function setItems(context, events, done) { context.vars.items = [{ x: 1 }, { x: 2 }]; done(); }
function setHeader(request, context, events, next) { request.headers = { ...request.headers, "x-set": "yes" }; next(); }
function readBody(request, response, context, events, next) { context.vars.length = response.body.length; context.vars.status = response.statusCode; next(); }
function emit(context, events, done) { events.emit("counter", "my.counter", 2); events.emit("histogram", "my.histogram", 5); events.emit("rate", "my.rate"); done(); }
function fails(context, events, done) { done(new Error("my failure")); }
function isOdd(context, next) { context.vars.i = (context.vars.i ?? 0) + 1; next(context.vars.i < 3); }
async function later(context, events) { context.vars.late = "async"; }
function connectElsewhere(params, context, next) { params.target += "/elsewhere"; next(); }
