/** Joins two streams: what either receives is sent to the other. */
import type { Duplex } from "node:stream";

/**
 * Resolves when both are closed. When one side ends, its remaining data is forwarded before the other is closed; when
 * one side fails, the other is destroyed; the signal destroys both.
 */
export async function joined(one: Duplex, other: Duplex, signal?: AbortSignal): Promise<void> {
  const cut = () => {
    one.destroy();
    other.destroy();
  };
  if (signal?.aborted === true) cut();
  signal?.addEventListener("abort", cut, { once: true });
  try {
    await Promise.all([passed(one, other, cut), passed(other, one, cut)]);
  } finally {
    signal?.removeEventListener("abort", cut);
  }
}

/** Resolves when `from` is closed. */
function passed(from: Duplex, to: Duplex, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    const closed = () => {
      if (!from.readableEnded) cut();
      else to.end(() => to.destroy());
      resolve();
    };
    from.on("error", cut);
    if (from.closed) closed();
    else from.once("close", closed);
    from.pipe(to);
  });
}
