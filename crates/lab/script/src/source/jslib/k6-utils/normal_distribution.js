// Stages along a bell curve.

/** Stages of equal length whose targets rise to maxVus in the middle and fall again: the curve within two deviations. */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const duration = `${Math.round((durationSeconds / numberOfStages) * 1000)}ms`;
  const middle = (numberOfStages - 1) / 2;
  return Array.from({ length: numberOfStages }, (_, index) => {
    const deviation = middle === 0 ? 0 : ((index - middle) / middle) * 2;
    return { duration, target: Math.max(1, Math.round(maxVus * Math.exp((-deviation * deviation) / 2))) };
  });
}
