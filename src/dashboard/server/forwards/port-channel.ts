/**
 * One forwarded connection: a local socket, and the two channels of `pods/portforward` over a WebSocket. Channel 0 has
 * the data, channel 1 what the node says against it; each begins with the port's number.
 *
 * 1. Backpressure: neither side is read faster than the other takes it.
 * 2. This protocol cannot end one direction alone. When the local program has sent all, the answer is awaited while
 *    something comes.
 */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Clock } from "#base";

export const PORT_PROTOCOL = "v4.channel.k8s.io";

const DATA = 0;
const MAX_WAITING_BYTES = 1024 * 1024;
const SILENCE_MS = 10_000;
const MAX_WORDS = 4096;

/** What the node said against it, or nothing: when both are closed. */
export async function joinPort(far: WebSocket, local: Socket, clock: Clock): Promise<string> {
  const over = Promise.withResolvers<void>();
  const begun = new Set<number>();
  const silence = new AbortController();
  let words = "";
  let lastMs = clock.monotonic();
  far.on("message", (message: Buffer) => {
    lastMs = clock.monotonic();
    const [channel = DATA] = message;
    if (!begun.has(channel)) begun.add(channel);
    else if (channel === DATA) {
      if (!local.write(message.subarray(1))) far.pause();
    } else if (words.length < MAX_WORDS) words += message.subarray(1).toString();
  });
  local.on("drain", () => far.resume());
  local.on("data", (bytes: Buffer) => {
    far.send(Buffer.concat([Buffer.from([DATA]), bytes]), () => {
      if (far.bufferedAmount < MAX_WAITING_BYTES) local.resume();
    });
    if (far.bufferedAmount >= MAX_WAITING_BYTES) local.pause();
  });
  const untilSilent = async () => {
    while (clock.monotonic() - lastMs < SILENCE_MS) await clock.sleep(SILENCE_MS, silence.signal);
    over.resolve();
  };
  // Ended from outside: both sides are closed then.
  local.once("end", () => void untilSilent().catch(() => over.resolve()));
  for (const event of ["error", "close"]) {
    local.once(event, () => over.resolve());
    far.once(event, () => over.resolve());
  }
  if (local.destroyed || far.readyState !== far.OPEN) over.resolve();
  far.resume();
  local.resume();
  await over.promise;
  silence.abort();
  local.end();
  if (far.readyState <= far.OPEN) far.close(1000);
  return words.trim();
}
