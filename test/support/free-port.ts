/** A port that stays the same over restarts of what listens on it. */
import { once } from "node:events";
import { createServer } from "node:net";
import { systemRandom } from "#base";

/** Free now, and below those that the kernel gives to outgoing connections: nobody takes it while its owner is down. */
export async function freePort(): Promise<number> {
  const random = systemRandom();
  for (;;) {
    const port = 15_000 + random.integer(17_000);
    const server = createServer();
    const listening = once(server, "listening").then(
      () => true,
      () => false,
    );
    server.listen(port, "127.0.0.1");
    if (!(await listening)) continue;
    await once(server.close(), "close");
    return port;
  }
}
