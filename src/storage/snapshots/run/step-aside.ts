/**
 * Works while nobody else holds the Lease of this work, in whatever namespace.
 *
 *     no holder, or one that has not renewed for the duration of its lease ──► works
 *     another holder renews ──► stops, and waits
 *
 * 1. No lease is written: a cluster at rest stays at rest.
 * 2. Clocks are not compared: a holder counts from when its lease was last seen to change.
 */
import { type coordination, isStatusError, kinds } from "#api";
import { type Clock, childController, isAbort, type Logger, whenAborted } from "#base";
import type { Client } from "#client";

type Lease = coordination.Lease;

export interface StepAsideOptions {
  readonly client: Client;
  readonly lease: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const DEFAULT_LEASE_MS = 15_000;
const RETRY_MS = 2_000;

export async function whileAlone(
  options: StepAsideOptions,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { lease, log } = options;
  using watching = childController(signal);
  const holders = new Holders(options);
  const watched = holders.watch(watching.signal);
  // Handled where it is awaited, at the end.
  watched.catch(() => {});
  try {
    while (!signal.aborted) {
      await holders.reached(false, signal);
      using term = childController(signal);
      const working = work(term.signal);
      const ended = working.then(
        () => {},
        () => {},
      );
      const taken = holders.reached(true, term.signal).catch(() => undefined);
      await Promise.race([ended, taken]);
      if (!signal.aborted && holders.isForeign) log.info("another installation does this work", { lease });
      const isOver = !holders.isForeign;
      term.abort(new Error(`another installation holds the lease ${lease}`));
      await ended;
      await working.catch((error: unknown) => {
        if (!isAbort(error, term.signal)) throw error;
      });
      if (isOver) return;
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    watching.abort(new Error("the work is over"));
    await watched;
  }
}

/** Who holds leases of the name now. */
class Holders {
  readonly #options: StepAsideOptions;
  /** By namespace: until when a holder counts. */
  readonly #until = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #isKnown = false;

  constructor(options: StepAsideOptions) {
    this.#options = options;
  }

  get isForeign(): boolean {
    const now = this.#options.clock.monotonic();
    return [...this.#until.values()].some((until) => until > now);
  }

  /** Resolves when there is a holder, or when there is none. */
  async reached(foreign: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!(this.#isKnown && this.isForeign === foreign)) {
      signal.throwIfAborted();
      const leftMs = Math.max(0, ...[...this.#until.values()].map((until) => until - clock.monotonic()));
      using pause = childController(signal);
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        if (leftMs > 0) clock.sleep(leftMs, pause.signal).then(wake, wake);
        whenAborted(pause.signal, wake);
      });
    }
  }

  async watch(signal: AbortSignal): Promise<void> {
    const { client, lease, clock, log } = this.#options;
    const leases = client.of(kinds.Lease);
    const fieldSelector = `metadata.name=${lease}`;
    while (!signal.aborted) {
      try {
        const { items, metadata } = await leases.list({ fieldSelector, signal });
        for (const item of items) this.#saw(item);
        this.#isKnown = true;
        this.#wake();
        const { resourceVersion } = metadata;
        for await (const event of leases.watch({ fieldSelector, resourceVersion, signal })) {
          if (event.type === "BOOKMARK") continue;
          if (event.type === "DELETED") this.#until.delete(event.object.metadata.namespace ?? "");
          else this.#saw(event.object);
          this.#wake();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isStatusError(error, "Expired")) log.warn("leases could not be watched", { lease, error });
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  #saw({ metadata, spec }: Lease): void {
    const { namespace = "" } = metadata;
    const durationMs = spec?.leaseDurationSeconds === undefined ? DEFAULT_LEASE_MS : spec.leaseDurationSeconds * 1000;
    if ((spec?.holderIdentity ?? "") === "") this.#until.delete(namespace);
    else this.#until.set(namespace, this.#options.clock.monotonic() + durationMs);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
