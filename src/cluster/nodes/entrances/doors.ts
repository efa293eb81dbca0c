/**
 * The ports of this machine that are open, made to match the plan.
 *
 * 1. A port that stays keeps its connections; its next ones go to the new targets.
 * 2. A port that is not to be had is tried again with each call, and reported in words.
 */
import type { Clock } from "#base";
import { type Listener, listenTcp } from "./listen-tcp.ts";
import { listenUdp } from "./listen-udp.ts";
import { type Door, keyOf, type Target } from "./plan.ts";
import type { OpenDoor } from "./records.ts";

interface Open {
  readonly listener: Listener;
  targets: readonly Target[];
}

export class Doors {
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns all of them, with the problems of those that are not open. */
  async set(wanted: readonly Door[]): Promise<OpenDoor[]> {
    const byKey = new Map(wanted.map((door) => [keyOf(door), door]));
    for (const [key, { listener }] of [...this.#open]) {
      if (byKey.has(key)) continue;
      this.#open.delete(key);
      await listener.close();
    }
    const shown: OpenDoor[] = [];
    for (const [key, door] of byKey) {
      const problem = await this.#ensure(key, door);
      if (problem === NO_SUCH_ADDRESS && door.address === "::1") continue; // a machine without IPv6
      const { kind, protocol, to } = door;
      shown.push({
        kind,
        at: key.slice(key.indexOf(" ") + 1),
        protocol,
        to,
        ...(problem !== undefined && { problem }),
      });
    }
    return shown;
  }

  async close(): Promise<void> {
    await this.set([]);
  }

  async #ensure(key: string, { address, port, protocol, targets }: Door): Promise<string | undefined> {
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.targets = targets;
      return undefined;
    }
    const listen = protocol === "TCP" ? listenTcp : listenUdp;
    let made: Open | undefined;
    const now = () => made?.targets ?? targets;
    try {
      const listener = await listen({ address, port, targets: now, clock: this.#clock });
      made = { listener, targets };
      this.#open.set(key, made);
      return undefined;
    } catch (error) {
      return problemOf(error as NodeJS.ErrnoException, port);
    }
  }
}

const NO_SUCH_ADDRESS = "this machine does not have the address";

function problemOf({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === "EADDRINUSE") return `port ${port} is in use by another program`;
  if (code === "EACCES") return `port ${port} needs root`;
  if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return NO_SUCH_ADDRESS;
  return message;
}
