/**
 * Keeps the Node object, its status and its Lease up to date.
 *
 *     start ──► Node exists? ──no──══► create
 *                  └yes──══► labels and status
 *     every 10 s ···══► status, if it has changed (and every 5 minutes in any case)
 *     every 10 s ···══► Lease
 *
 * 1. Failed writes are retried; no failure ends the kubelet.
 */
import { type core, isStatusError, kinds } from "#api";
import { type Clock, isAbort, type Logger, type Random } from "#base";
import type { Client } from "#client";
import { NodeLease } from "./lease.ts";
import {
  missingLabels,
  type NodeReport,
  newNode,
  nodeStatus,
  nodeStatusPatch,
  STATUS_HEARTBEAT_MS,
} from "./node-object.ts";

export interface RegistrationTiming {
  readonly updateMs: number;
  readonly reportMs: number;
  readonly leaseSeconds: number;
}

export interface RegistrationOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: every 10 s, every 5 minutes if nothing has changed, and a Lease of 40 s. */
  readonly timing?: RegistrationTiming | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
  /** Null removes one. Default: none of its own. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
  readonly providerId?: string | undefined;
  /** The current state of the node. */
  readonly report: (signal: AbortSignal) => Promise<NodeReport>;
  /** Called whenever the Node has been read or written. */
  readonly onNode: (node: core.Node) => void;
}

const UPDATE_MS = 10_000;
const SOON_MS = 250;

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 7000;

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #lease: NodeLease;
  #node: core.Node | undefined;
  #heartbeatMs = Number.NEGATIVE_INFINITY;
  #hurry: (() => void) | undefined;
  /** Something has changed since the status was last looked at. */
  #isDue = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#lease = new NodeLease(options.client, options.clock, options.nodeName, options.timing?.leaseSeconds);
  }

  get node(): core.Node | undefined {
    return this.#node;
  }

  /** The state has changed: the status is written soon. */
  changed(): void {
    this.#isDue = true;
    this.#hurry?.();
  }

  /** Resolves when the Node exists with its first status. */
  async register(signal: AbortSignal): Promise<void> {
    const { clock, log, nodeName } = this.#options;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)) {
      try {
        await this.#register(signal);
        await this.#update(signal);
        log.info("node registered", { node: nodeName });
        return;
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.warn("node could not be registered yet", { node: nodeName, retryMs, error });
      }
      await clock.sleep(retryMs, signal);
    }
  }

  async runStatus(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let isReady = false;
    for (;;) {
      // A node that is not Ready yet is checked often: the cluster waits for it.
      await this.#sleep(isReady ? (this.#options.timing?.updateMs ?? UPDATE_MS) : SOON_MS * 4, clock, signal);
      try {
        await this.#update(signal);
        isReady =
          this.#node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
      } catch (error) {
        if (isAbort(error, signal)) return;
        if (isStatusError(error) && error.reason === "NotFound") await this.#again(signal);
        else log.warn("node status could not be written", { error });
      }
    }
  }

  async runLease(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (;;) {
      let waitMs = this.#lease.renewMs;
      try {
        await this.#lease.renew(this.#node, signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("node lease could not be renewed", { error });
        waitMs = FIRST_RETRY_MS * 5;
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** Somebody has deleted the Node. */
  async #again(signal: AbortSignal): Promise<void> {
    try {
      await this.#register(signal);
      await this.#update(signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      this.#options.log.warn("node could not be registered again", { error });
    }
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { nodeName, client, clock, labels, taints, annotations = {}, providerId, report } = this.#options;
    const nodes = client.of(kinds.Node);
    const existing = await nodes.get(nodeName, { signal }).catch((error: unknown) => {
      if (isStatusError(error) && error.reason === "NotFound") return undefined;
      throw error;
    });
    if (existing === undefined) {
      const given = Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null);
      const own = { name: nodeName, labels, taints, providerId, annotations: Object.fromEntries(given) };
      this.#set(await nodes.create(newNode({ ...own, report: await report(signal) }, clock.now()), { signal }));
      return;
    }
    const missing = missingLabels(existing, labels);
    const known = existing.metadata.annotations ?? {};
    const changed = Object.entries(annotations).filter(([name, value]) => (known[name] ?? null) !== value);
    if (missing === undefined && changed.length === 0) this.#set(existing);
    else {
      const object = { metadata: { labels: missing ?? {}, annotations: Object.fromEntries(changed) } };
      this.#set(await nodes.patch(nodeName, { type: "strategic", object }, { signal }));
    }
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { nodeName, client, clock, report } = this.#options;
    // Others write to the Node, too: the patch is made against its current state.
    const node = await client.of(kinds.Node).get(nodeName, { resourceVersion: "0", signal });
    this.#set(node);
    const isHeartbeatDue =
      clock.monotonic() - this.#heartbeatMs >= (this.#options.timing?.reportMs ?? STATUS_HEARTBEAT_MS);
    const before = node.status ?? {};
    const patch = nodeStatusPatch(before, nodeStatus(before, await report(signal), clock.now()), isHeartbeatDue);
    if (patch === undefined) return;
    this.#set(
      await client
        .of(kinds.Node)
        .subresource(nodeName, "status")
        .patch({ type: "strategic", object: patch }, { signal }),
    );
    if (isHeartbeatDue) this.#heartbeatMs = clock.monotonic();
  }

  #set(node: core.Node): void {
    this.#node = node;
    this.#options.onNode(node);
  }

  async #sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const hurry = new AbortController();
    this.#hurry = () => hurry.abort();
    try {
      if (!this.#isDue) await clock.sleep(ms, AbortSignal.any([signal, hurry.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      this.#hurry = undefined;
      this.#isDue = false;
    }
  }
}
