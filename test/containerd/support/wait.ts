/** Waits for a condition, and says what it saw last if it never comes. */
import { realClock } from "../../../src/base/index.ts";

const POLL_MS = 50;

export async function until<T>(
  look: () => Promise<T> | T,
  isWanted: (seen: T) => boolean,
  timeoutMs = 100_000,
): Promise<T> {
  const clock = realClock();
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (isWanted(seen)) return seen;
    if (clock.monotonic() >= deadline) throw new Error(`it never came; last seen: ${JSON.stringify(seen)}`);
    await clock.sleep(POLL_MS);
  }
}
