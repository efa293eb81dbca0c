/**
 * When each node was last heard of: by its Lease, or by the status that it posts.
 *
 * 1. Times are those of this process, not those that nodes write: clocks of nodes may be wrong.
 * 2. A sign of life costs one entry in a map and wakes nobody: thousands of Leases are renewed all the time.
 */
import type { coordination, core } from "#api";
import type { Clock } from "#base";
import type { Change } from "#client";
import { condition } from "./conditions.ts";

export class Heartbeats {
  readonly #clock: Clock;
  readonly #heard = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ofLease({ type, object, old }: Change<coordination.Lease>, hasNode: boolean): void {
    const { name = "" } = object.metadata;
    if (type === "deleted") {
      if (!hasNode) this.#heard.delete(name);
      return;
    }
    const [before, now] = [old?.spec?.renewTime ?? "", object.spec?.renewTime ?? ""];
    if (old === undefined || before < now) this.#hear(name);
  }

  ofNode({ type, object, old }: Change<core.Node>): void {
    const { name = "" } = object.metadata;
    if (type === "deleted") {
      this.#heard.delete(name);
      return;
    }
    const ready = condition(object, "Ready");
    const before = old && condition(old, "Ready");
    // One that has not posted anything yet counts from its creation.
    if (ready === undefined && before === undefined) return;
    if (ready === undefined || before?.lastHeartbeatTime !== ready.lastHeartbeatTime || old === undefined)
      this.#hear(name);
  }

  /** For how long nothing has been heard; undefined: never anything. */
  silentMs(name: string): number | undefined {
    const heard = this.#heard.get(name);
    return heard === undefined ? undefined : this.#clock.monotonic() - heard;
  }

  #hear(name: string): void {
    this.#heard.set(name, this.#clock.monotonic());
  }
}
