// `perf_hooks`: the clock.
const performance = globalThis.performance;
module.exports = { performance };
