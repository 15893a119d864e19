module.exports = {
  setVariable(context, events, next) {
    context.vars.v = 4;
    next();
  },
};
