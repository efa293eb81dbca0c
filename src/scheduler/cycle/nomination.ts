/** Names the node of a slow binding in the Pod's status, for others such as autoscalers. Nothing here depends on it. */
import { isAbort, type Timer } from "#base";
import { patchStatus } from "../framework/index.ts";
import type { Placement } from "./binding.ts";
import type { Parts } from "./parts.ts";

export class Nomination {
  readonly #parts: Parts;
  readonly #placement: Placement;
  #timer: Timer | undefined;
  #published: Promise<void> | undefined;

  constructor(parts: Parts, placement: Placement) {
    this.#parts = parts;
    this.#placement = placement;
  }

  /** Zero: now, and resolves when it is written. */
  async publish(afterMs: number): Promise<void> {
    if (afterMs === 0) {
      this.#published = this.#write();
      await this.#published;
    } else {
      this.#timer = this.#parts.clock.timer(afterMs, () => {
        this.#published = this.#write();
      });
    }
  }

  /** Nothing is written that was not begun. */
  stop(): void {
    this.#timer?.cancel();
  }

  /** The node, if the status may name it; nothing is written any more. */
  async end(): Promise<string | undefined> {
    this.stop();
    await this.#published;
    return this.#published === undefined ? undefined : this.#placement.node;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { client, clock, signal, log } = this.#parts;
    const { queued, node } = this.#placement;
    const { pod } = queued;
    try {
      await patchStatus(client, clock, pod, { nominatedNodeName: node }, signal);
    } catch (error) {
      if (!isAbort(error, signal)) log.warn("a pod's nomination could not be published", { pod: pod.key, node, error });
    }
  }
}
