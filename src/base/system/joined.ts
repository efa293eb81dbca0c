/** Two connections that go on as one: what comes from either goes to the other. */
import type { Duplex } from "node:stream";

/**
 * Until both are closed. A side that ends has its last words passed on before the other is closed; a side that breaks breaks the other; the signal
 * breaks both.
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
