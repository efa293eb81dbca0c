/** The validity period of a certificate. */
const MINUTE_MS = 60_000;
/** Backdated because clocks differ. */
const BACKDATE_MS = 5 * MINUTE_MS;
const LEAST_MS = 10 * MINUTE_MS;
/** Shorter certificates are not backdated. */
const SHORT_MS = 8 * 60 * MINUTE_MS;

export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** `longestMs`: the cluster's limit; a request may ask for less. */
export function lifetimeOf(expirationSeconds: number | undefined, longestMs: number, now: number): Lifetime {
  const asked = expirationSeconds === undefined ? longestMs : expirationSeconds * 1000;
  const ms = asked > longestMs ? longestMs : Math.max(asked, LEAST_MS);
  const notBefore = now - BACKDATE_MS;
  return { notBefore, notAfter: ms < SHORT_MS ? now + ms : notBefore + ms };
}
