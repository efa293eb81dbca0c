/**
 * Who may use a dashboard: whoever opens its link first. The link's token is good for one exchange against a session, whose id travels in a cookie.
 *
 * 1. A token that was used, or replaced by a newer one, is worth nothing.
 * 2. Only digests are kept and compared, in constant time.
 * 3. A session ends when it has not been used for `IDLE_MS`.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "#base";

const IDLE_MS = 12 * 3600 * 1000;

export class Sessions {
  readonly #clock: Clock;
  /** Digest of the link's token while nobody has used it. */
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

  /** A session's id for a token that nobody has used yet. */
  redeem(token: string): string | undefined {
    if (this.#link === undefined || !timingSafeEqual(this.#link, digest(token))) return undefined;
    this.#link = undefined;
    const id = secret();
    this.#used.set(digest(id).toString("hex"), this.#clock.now());
    return id;
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
