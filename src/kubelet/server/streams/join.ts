/** Two connections that go on as one: what comes from either goes to the other, until both are closed. */
import type { Duplex } from "node:stream";

/** A side that ends has its last words passed on before the other is closed; a side that breaks breaks the other. */
export async function join(one: Duplex, other: Duplex): Promise<void> {
  const cut = () => {
    one.destroy();
    other.destroy();
  };
  await Promise.all([passed(one, other, cut), passed(other, one, cut)]);
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
