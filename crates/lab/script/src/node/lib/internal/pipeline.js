// Several streams, one behind the other, and the end of one.

const { coded } = require("internal/errors");

/** Calls back once, when the stream has ended, failed or closed too early. */
function finished(stream, options, callback) {
  if (typeof options === "function") [callback, options] = [options, {}];
  const wantsRead = options.readable ?? stream._readableState !== undefined;
  const wantsWrite = options.writable ?? stream._writableState !== undefined;
  let isDone = false;
  const done = (error) => {
    if (isDone) return;
    isDone = true;
    callback.call(stream, error);
  };
  const isOver = () => (!wantsRead || !stream._readableState || stream._readableState.endEmitted) && (!wantsWrite || !stream._writableState || stream._writableState.finished);
  const look = () => isOver() && done();
  const onClose = () => (isOver() ? done() : done(coded(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close")));
  stream.on("end", look).on("finish", look).on("error", done).on("close", onClose);
  if (isOver()) process.nextTick(done);
  else if (stream.errored) process.nextTick(done, stream.errored);
  return () => stream.removeListener("end", look).removeListener("finish", look).removeListener("error", done).removeListener("close", onClose);
}

function pipeline(...streams) {
  const callback = typeof streams.at(-1) === "function" && streams.length > 2 ? streams.pop() : () => {};
  const { Stream, Readable } = require("stream");
  const list = streams.flat();
  if (list[0]?._readableState === undefined && !(list[0] instanceof Stream)) list[0] = Readable.from(typeof list[0] === "function" ? list[0]() : list[0]);
  let isDone = false;
  const end = (error) => {
    if (isDone) return;
    isDone = true;
    if (error) list.forEach((stream) => stream.destroy?.());
    callback(error);
  };
  list.forEach((stream, index) => {
    const isLast = index === list.length - 1;
    finished(stream, { readable: !isLast, writable: index > 0 }, (error) => (error || isLast ? end(error) : undefined));
  });
  return list.reduce((from, to) => from.pipe(to));
}

module.exports = { finished, pipeline };
