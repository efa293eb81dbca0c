/**
 * Waits until a volume is attached to this node, and says which volumes the node uses: the Node's volumesInUse.
 *
 * 1. A volume counts as in use before anybody waits for it: the controller that detaches then leaves it alone.
 */
import { isStatusError, kinds, type storage } from "#api";
import type { Clock } from "#base";
import { type Client, revisionOf } from "#client";
import type { PodCalls } from "../runtime/recorded.ts";
import { VolumeError } from "../volumes/index.ts";
import { isExhausted } from "./limits.ts";
import type { Wanted } from "./requests.ts";

export interface AttachedVolumesOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The driver had no room for a volume. */
  readonly onExhausted?: ((driver: string) => void) | undefined;
  /** volumesInUse has changed: write the Node's status soon. */
  readonly onChange: () => void;
}

const TIMEOUT_MS = 120_000;
const OFTEN_MS = 100;
const SELDOM_MS = 1000;
const SOON_MS = 10_000;

export class AttachedVolumes {
  readonly #options: AttachedVolumesOptions;
  readonly #inUse = new Set<string>();
  #reported: ReadonlySet<string> = new Set();

  constructor(options: AttachedVolumesOptions) {
    this.#options = options;
  }

  /** What a kubelet before this one has left mounted. */
  recover(names: readonly string[]): void {
    for (const name of names) this.#inUse.add(name);
  }

  inUse(): readonly string[] {
    return [...this.#inUse].sort();
  }

  /** The Node's status says this now. */
  reported(names: readonly string[] = []): void {
    this.#reported = new Set(names);
  }

  release(name: string): void {
    if (this.#inUse.delete(name)) this.#options.onChange();
  }

  /** What the attacher has to tell the driver. Throws VolumeError where it fails or takes too long. */
  async wait(
    wanted: Wanted,
    isAttachable: boolean,
    calls: Pick<PodCalls, "waitedFor">,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    if (!isAttachable) return {};
    const { clock, onChange } = this.#options;
    this.#inUse.add(wanted.attachedName);
    const startMs = clock.monotonic();
    for (;;) {
      if (!this.#reported.has(wanted.attachedName)) onChange();
      else {
        const attachment = await this.#attachment(wanted.attachment, signal);
        if (attachment?.status?.attached === true) {
          calls.waitedFor(revisionOf(attachment));
          return attachment.status.attachmentMetadata ?? {};
        }
        const problem = attachment?.status?.attachError?.message;
        if (attachment !== undefined && isExhausted(attachment)) this.#options.onExhausted?.(wanted.driver);
        if (problem !== undefined) throw new VolumeError(problem);
      }
      const waitedMs = clock.monotonic() - startMs;
      if (waitedMs >= TIMEOUT_MS)
        throw new VolumeError(
          `timed out waiting for external-attacher of ${wanted.driver} CSI driver to attach volume ${wanted.handle}`,
        );
      await clock.sleep(waitedMs < SOON_MS ? OFTEN_MS : SELDOM_MS, signal);
    }
  }

  async #attachment(name: string, signal: AbortSignal): Promise<storage.VolumeAttachment | undefined> {
    return this.#options.client
      .of(kinds.VolumeAttachment)
      .get(name, { signal })
      .catch((error: unknown) => {
        // Before it exists, a node may not read it either.
        if (isStatusError(error, "NotFound") || isStatusError(error, "Forbidden")) return undefined;
        throw error;
      });
  }
}
