/**
 * When each node was last heard of: by its Lease, or by the status that it posts.
 *
 * 1. Times are those of this process, not those that nodes write: clocks of nodes may be wrong.
 * 2. A sign of life costs one entry in a map and wakes nobody: thousands of Leases are renewed all the time.
 * 3. They are kept in the order in which they were heard: whoever looks for those who fell silent sees hardly any other.
 */
import type { coordination, core } from "#api";
import type { Clock } from "#base";
import type { Change } from "#client";
import { condition } from "./conditions.ts";

export class Heartbeats {
  readonly #clock: Clock;
  readonly #heard = new Map<string, number>();
  readonly #silent = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ofLease({ type, object, old }: Change<coordination.Lease>, hasNode: boolean): void {
    const { name = "" } = object.metadata;
    if (type === "deleted") {
      if (!hasNode) this.#forget(name);
      return;
    }
    const [before, now] = [old?.spec?.renewTime ?? "", object.spec?.renewTime ?? ""];
    if (old === undefined || before < now) this.#hear(name);
  }

  ofNode({ type, object, old }: Change<core.Node>): void {
    const { name = "" } = object.metadata;
    if (type === "deleted") {
      this.#forget(name);
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
    const heard = this.#heard.get(name) ?? this.#silent.get(name);
    return heard === undefined ? undefined : this.#clock.monotonic() - heard;
  }

  /** Those who have been silent for so long by now. Each is named once, until it has been heard of again. */
  fallenSilent(ms: number): readonly string[] {
    const since = this.#clock.monotonic() - ms;
    const names: string[] = [];
    for (const [name, heard] of this.#heard) {
      if (heard > since) break;
      names.push(name);
      this.#heard.delete(name);
      this.#silent.set(name, heard);
    }
    return names;
  }

  /** After which time there may be one more of them. */
  nextSilenceMs(ms: number): number {
    for (const heard of this.#heard.values()) return Math.max(0, heard + ms - this.#clock.monotonic());
    return ms;
  }

  #forget(name: string): void {
    this.#heard.delete(name);
    this.#silent.delete(name);
  }

  #hear(name: string): void {
    this.#forget(name);
    this.#heard.set(name, this.#clock.monotonic());
  }
}
