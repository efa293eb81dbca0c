/**
 * Which of the traces that begin here are recorded: a share of them, decided by their id. All who use the same share
 * decide alike, as OpenTelemetry's TraceIdRatioBased.
 */

const MILLION = 1_000_000;
/** Half of what 8 bytes can hold: the top bit is not used. */
const RANGE = 2 ** 63;

export type Sampler = (traceId: string) => boolean;

export function ratioSampler(perMillion: number): Sampler {
  if (perMillion <= 0) return () => false;
  if (perMillion >= MILLION) return () => true;
  const bound = BigInt(Math.floor((perMillion / MILLION) * RANGE));
  return (traceId) => BigInt(`0x${traceId.slice(16)}`) >> 1n < bound;
}
