/** A log over a WebSocket: each chunk is a message. */
import type { AcceptedSocket } from "./upgrade.ts";

const NORMAL_CLOSE = 1000;

/** Resolves when the log ends or the client disconnects. */
export async function logMessages(
  { socket, protocol, closed }: AcceptedSocket,
  log: AsyncIterable<Buffer>,
): Promise<void> {
  const asBase64 = protocol?.startsWith("base64.") === true;
  for await (const bytes of log) {
    if (socket.readyState !== socket.OPEN) break;
    await new Promise<void>((resolve) => {
      socket.send(asBase64 ? bytes.toString("base64") : bytes, () => resolve());
    });
  }
  socket.close(NORMAL_CLOSE);
  await closed;
}
