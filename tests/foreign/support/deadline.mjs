// Waiting for something that must happen, and saying what it was when it does not.

/** Longer than anything here takes on a busy machine with two cores. */
export const PATIENCE_MS = 20_000;

/** The outcome of `promise`, or an error that names `what` was waited for. */
export async function within(promise, what, patienceMs = PATIENCE_MS) {
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${patienceMs} ms for ${what}`)), patienceMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
