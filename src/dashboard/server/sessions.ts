/**
 * Sessions of a dashboard. The token of a link is exchanged once for a session, whose id is a cookie.
 *
 * 1. A used or replaced token is invalid.
 * 2. Only digests are kept and compared, in constant time.
 * 3. A session ends when it has not been used for `IDLE_MS`.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "#base";

const IDLE_MS = 12 * 3600 * 1000;

export class Sessions {
  /** Whoever has it gets links: commands of the user that runs the dashboard. */
  readonly holder = secret();
  readonly #clock: Clock;
  /** Digest of the unused token. */
  #link: Buffer | undefined;
  /** When each session was last used, by the digest of its id. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  newToken(): string {
    const token = secret();
    this.#link = digest(token);
    return token;
  }

  /** Exchanges an unused token for a session's id. */
  redeem(token: string): string | undefined {
    if (this.#link === undefined || !timingSafeEqual(this.#link, digest(token))) return undefined;
    this.#link = undefined;
    const id = secret();
    this.#used.set(digest(id).toString("hex"), this.#clock.now());
    return id;
  }

  /** `authorization`: the header with the holder's secret. */
  isHolder(authorization: string | undefined): boolean {
    return timingSafeEqual(digest(`Bearer ${this.holder}`), digest(authorization ?? ""));
  }

  admits(id: string | undefined): boolean {
    if (id === undefined) return false;
    const key = digest(id).toString("hex");
    const used = this.#used.get(key);
    if (used === undefined) return false;
    const now = this.#clock.now();
    if (now - used > IDLE_MS) {
      this.#used.delete(key);
      return false;
    }
    this.#used.set(key, now);
    return true;
  }
}

export function secret(): string {
  return randomBytes(24).toString("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
