/**
 * The last heartbeat of each node: a renewed Lease, or an updated status.
 *
 * 1. Times are those of this process: clocks of nodes may be wrong.
 * 2. A heartbeat costs one map entry and wakes nothing: thousands of Leases are renewed all the time.
 * 3. Heartbeats are ordered by time, so that silent nodes are found without visiting the others.
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
    // A node without a heartbeat counts from its creation.
    if (ready === undefined && before === undefined) return;
    if (ready === undefined || before?.lastHeartbeatTime !== ready.lastHeartbeatTime || old === undefined)
      this.#hear(name);
  }

  /** How long a node has been silent; undefined if there was no heartbeat yet. */
  silentMs(name: string): number | undefined {
    const heard = this.#heard.get(name) ?? this.#silent.get(name);
    return heard === undefined ? undefined : this.#clock.monotonic() - heard;
  }

  /** The nodes that have been silent for this long. Each is returned once, until its next heartbeat. */
  fallenSilent(ms: number): readonly string[] {
    const names: string[] = [];
    for (const [name, heard] of this.#heard) {
      if (this.#leftMs(heard, ms) > 0) break;
      names.push(name);
      this.#heard.delete(name);
      this.#silent.set(name, heard);
    }
    return names;
  }

  /** When the next node may become silent. */
  nextSilenceMs(ms: number): number {
    for (const heard of this.#heard.values()) return Math.max(0, this.#leftMs(heard, ms));
    return ms;
  }

  /** One sum for both questions: rounded differently, a node would have no time left and yet not be silent. */
  #leftMs(heard: number, ms: number): number {
    return heard + ms - this.#clock.monotonic();
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
