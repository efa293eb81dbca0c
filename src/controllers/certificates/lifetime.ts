/** From when until when a certificate is valid. */
const MINUTE_MS = 60_000;
/** Clocks of machines differ. */
const BACKDATE_MS = 5 * MINUTE_MS;
const LEAST_MS = 10 * MINUTE_MS;
/** Of anything shorter, five minutes would be a noticeable part. */
const SHORT_MS = 8 * 60 * MINUTE_MS;

export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** `longestMs`: what the cluster grants; a request may ask for less. */
export function lifetimeOf(expirationSeconds: number | undefined, longestMs: number, now: number): Lifetime {
  const asked = expirationSeconds === undefined ? longestMs : expirationSeconds * 1000;
  const ms = asked > longestMs ? longestMs : Math.max(asked, LEAST_MS);
  const notBefore = now - BACKDATE_MS;
  return { notBefore, notAfter: ms < SHORT_MS ? now + ms : notBefore + ms };
}
