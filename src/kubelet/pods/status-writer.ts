/**
 * Writes Pod statuses to the API.
 *
 * 1. Only differences to the API's version are sent, and only of the newest status: superseded ones are skipped.
 * 2. Conditions of others stay.
 * 3. A Pod is deleted after its last status is written. A Pod that is gone or was replaced by another of its name is
 *    not written.
 */
import { type core, isStatusError, kinds } from "#api";
import { type Clock, type Logger, processQueue, type Random, WorkQueue } from "#base";
import { type Client, revisionOf } from "#client";
import { Works } from "#flows";
import { podText, statusPatch, statusSummary } from "../pod-status/index.ts";
import type { RuntimeCalls } from "../runtime/recorded.ts";

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The Pod in the API: itself, or the mirror of a static Pod; undefined if there is none. */
  readonly targetOf: (pod: core.Pod) => core.Pod | undefined;
  readonly nodeName: string;
  /** How long it took from a new status until the API has it. */
  readonly onWritten?: ((seconds: number) => void) | undefined;
  /** Calls to the runtime since the last status, for the flow recorder. */
  readonly calls: RuntimeCalls;
}

interface Entry {
  readonly pod: core.Pod;
  readonly status: core.PodStatus;
  /** Since when the API lacks it. */
  readonly sinceMs: number;
  isWritten: boolean;
  /** The API's answer to the last write. */
  written?: core.Pod | undefined;
}

const CONCURRENCY = 8;
/** The only conditions that a kubelet removes. */
const REMOVED = new Set(["PodResizePending", "PodResizeInProgress"]);

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #queue: WorkQueue;
  readonly #works: Works;

  constructor(options: StatusWriterOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#works = new Works(`kubelet/${options.nodeName}`);
    this.#queue = new WorkQueue({ clock, random, backoff: { initialMs: 500, maxMs: 10_000, jitter: 0.5 } });
  }

  /** The newest status, written or not. */
  get(uid: string): core.PodStatus | undefined {
    return this.#entries.get(uid)?.status;
  }

  set(pod: core.Pod, status: core.PodStatus): void {
    const { uid = "" } = pod.metadata;
    const before = this.#entries.get(uid);
    const sinceMs = before !== undefined && !before.isWritten ? before.sinceMs : this.#options.clock.monotonic();
    this.#entries.set(uid, { pod, status, sinceMs, isWritten: false, written: before?.written });
    this.#queue.add(uid);
  }

  /** The Pod in the API may have changed: compare again. */
  check(uid: string): void {
    if (this.#entries.has(uid)) this.#queue.add(uid);
  }

  forget(uid: string): void {
    this.#options.calls.forget(uid);
    this.#entries.delete(uid);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    await processQueue(
      this.#queue,
      {
        concurrency: CONCURRENCY,
        signal,
        onFailure: (error, uid) => {
          log.warn("pod status could not be written; retrying", { uid, error });
          return "retry";
        },
      },
      (uid, running) => this.#write(uid, running),
    );
  }

  /** Writes the last status, then deletes the Pod from the API. */
  async finish(pod: core.Pod, signal: AbortSignal): Promise<void> {
    const { uid = "", name = "", namespace = "" } = pod.metadata;
    await this.#write(uid, signal);
    if (this.#options.targetOf(pod)?.metadata.uid !== uid) return;
    try {
      await this.#options.client
        .of(kinds.Pod)
        .in(namespace)
        .delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal, cause: this.#stopped(pod) });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    this.forget(uid);
  }

  async #write(uid: string, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(uid);
    const target = entry && this.#options.targetOf(entry.pod);
    if (entry === undefined || target === undefined) return;
    const known = newer(target, entry.written);
    const patch = statusPatch(known, withConditionsOf(known, entry.status));
    if (patch === undefined) {
      entry.isWritten = true;
      return;
    }
    const { name = "", namespace = "" } = known.metadata;
    try {
      const written = await this.#options.client
        .of(kinds.Pod)
        .in(namespace)
        .subresource(name, "status")
        .patch({ type: "strategic", object: patch }, { signal, cause: this.#causeOf(entry, known) });
      const { clock, onWritten } = this.#options;
      entry.isWritten = true;
      onWritten?.((clock.monotonic() - entry.sinceMs) / 1000);
      const now = this.#entries.get(uid);
      if (now !== undefined) now.written = written;
      if (now !== entry) this.#queue.add(uid);
    } catch (error) {
      // Gone, or replaced by another Pod of the same name.
      if (!isGone(error)) throw error;
      this.#options.log.debug("pod was deleted before its status was written", { pod: podText(entry.pod) });
    }
  }

  #stopped(pod: core.Pod): string {
    const { clock, calls } = this.#options;
    const { uid = "", name, namespace } = pod.metadata;
    const woken = revisionOf(this.#options.targetOf(pod) ?? pod);
    return this.#works.cause({
      about: `${namespace}/${name}`,
      resource: "pods",
      decided: "all its containers have stopped",
      ...calls.take(uid, clock.now(), woken),
    });
  }

  #causeOf({ pod, status }: Entry, known: core.Pod): string {
    const { clock, calls } = this.#options;
    const { uid = "", name, namespace } = pod.metadata;
    return this.#works.cause({
      about: `${namespace}/${name}`,
      resource: "pods",
      decided: statusSummary(status),
      ...calls.take(uid, clock.now(), revisionOf(known)),
    });
  }
}

function newer(known: core.Pod, written: core.Pod | undefined): core.Pod {
  if (written === undefined || written.metadata.uid !== known.metadata.uid) return known;
  return Number(written.metadata.resourceVersion) > Number(known.metadata.resourceVersion) ? written : known;
}

function withConditionsOf({ status }: core.Pod, next: core.PodStatus): core.PodStatus {
  const own = new Set((next.conditions ?? []).map(({ type }) => type));
  const others = (status?.conditions ?? []).filter(({ type }) => !own.has(type) && !REMOVED.has(type));
  return others.length === 0 ? next : { ...next, conditions: [...others, ...(next.conditions ?? [])] };
}

function isGone(error: unknown): boolean {
  return isStatusError(error) && (error.reason === "NotFound" || error.reason === "Conflict");
}
