/**
 * Records the calls that a kubelet makes for each Pod to its runtime and for its volumes, and probe results, for the
 * flow recorder. They are sent with the Pod's next status.
 *
 * 1. It only observes: calls are neither delayed nor changed.
 * 2. For each Pod only the latest calls are kept.
 */
import type { core } from "#api";
import type { Clock } from "#base";
import type { Call } from "#flows";
import { bound } from "./bound.ts";
import type { Runtime } from "./runtime.ts";

const MAX_CALLS = 16;
const TO = "runtime";

interface Kept {
  readonly to: string;
  readonly what: string;
  readonly at: number;
  readonly tookMs: number;
  readonly failed?: string;
}

/** The calls that are made for one Pod. */
export interface PodCalls {
  record<T>(to: string, what: string, call: () => Promise<T>): Promise<T>;
  /** The change of an object without which the Pod could not go on. */
  waitedFor(revision: number): void;
}

/** For Pods whose calls nobody records. */
export const unrecorded: PodCalls = { record: (_to, _what, call) => call(), waitedFor: () => {} };

/** Since the last request about the Pod. */
interface Taken {
  readonly startedAt: number;
  readonly woken: readonly number[];
  readonly calls: readonly Call[];
}

interface Mounts {
  mount(pod: core.Pod, signal: AbortSignal): Promise<unknown>;
}

export class RuntimeCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, Kept[]>();
  /** Pods whose volumes were all mounted once. */
  readonly #mounted = new Set<string>();
  readonly #waitedFor = new Map<string, Set<number>>();
  readonly #podOf = new Map<string, { readonly uid: string; readonly name: string }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wraps a runtime so that calls for Pods are recorded. */
  recording(runtime: Runtime): Runtime {
    const { images } = runtime;
    return {
      ...bound(runtime),
      runPodSandbox: (config, handler, signal) =>
        this.#record(config.metadata.uid, "RunPodSandbox", () => runtime.runPodSandbox(config, handler, signal)),
      createContainer: async (sandboxId, config, sandbox, signal) => {
        const { name } = config.metadata;
        const { uid } = sandbox.metadata;
        const create = () => runtime.createContainer(sandboxId, config, sandbox, signal);
        const id = await this.#record(uid, `CreateContainer ${name}`, create);
        this.#podOf.set(id, { uid, name });
        return id;
      },
      startContainer: (id, signal) =>
        this.#recordContainer(id, "StartContainer", () => runtime.startContainer(id, signal)),
      stopContainer: (id, graceSeconds, signal) =>
        this.#recordContainer(id, "StopContainer", () => runtime.stopContainer(id, graceSeconds, signal)),
      removeContainer: async (id, signal) => {
        await runtime.removeContainer(id, signal);
        this.#podOf.delete(id);
      },
      images: {
        ...bound(images),
        pull: (image, options, signal) =>
          this.#record(options.sandbox?.metadata.uid ?? "", `PullImage ${image}`, () =>
            images.pull(image, options, signal),
          ),
      },
    };
  }

  /** Records what is called for a Pod, and what it has waited for. */
  of(uid: string): PodCalls {
    return {
      record: (to, what, call) => this.#record(uid, what, call, to),
      waitedFor: (revision) => {
        const known = this.#waitedFor.get(uid) ?? new Set<number>();
        if (known.size < MAX_CALLS) this.#waitedFor.set(uid, known.add(revision));
      },
    };
  }

  /** Wraps volumes. Only the first success and failures are recorded: `mount` is called with every sync. */
  mounting<T extends Mounts>(volumes: T): T {
    const mount: Mounts["mount"] = (pod, signal) => {
      const { uid = "" } = pod.metadata;
      const names = (pod.spec?.volumes ?? []).map(({ name }) => name);
      if (names.length === 0 || this.#mounted.has(uid)) return volumes.mount(pod, signal);
      return this.#record(uid, `mount ${names.join(", ")}`, () => volumes.mount(pod, signal), "volumes").then(
        (mounted) => {
          this.#mounted.add(uid);
          return mounted;
        },
      );
    };
    return { ...bound(volumes), mount };
  }

  /** Records an observation about a Pod. */
  found(uid: string, by: string, what: string, failed?: string): void {
    this.#keep(uid, { to: by, what, at: this.#clock.now(), tookMs: 0, ...(failed !== undefined && { failed }) });
  }

  /** Removes and returns the recorded calls of a Pod, when the first one began, and what woke it besides `woken`. */
  take(uid: string, nowMs: number, woken: number): Taken {
    const kept = (this.#calls.get(uid) ?? []).toSorted((a, b) => a.at - b.at);
    const waitedFor = this.#waitedFor.get(uid) ?? [];
    this.#calls.delete(uid);
    this.#waitedFor.delete(uid);
    const startedAt = kept[0]?.at ?? nowMs;
    const calls = kept.map(({ at, ...call }) => ({ afterMs: at - startedAt, ...call }));
    return { startedAt, woken: [woken, ...waitedFor], calls };
  }

  forget(uid: string): void {
    this.#mounted.delete(uid);
    this.#calls.delete(uid);
    this.#waitedFor.delete(uid);
  }

  #recordContainer<T>(id: string, verb: string, call: () => Promise<T>): Promise<T> {
    const { uid = "", name = id.slice(0, 12) } = this.#podOf.get(id) ?? {};
    return this.#record(uid, `${verb} ${name}`, call);
  }

  #keep(uid: string, call: Kept): void {
    const kept = this.#calls.get(uid) ?? [];
    kept.push(call);
    if (kept.length > MAX_CALLS) kept.shift();
    this.#calls.set(uid, kept);
  }

  async #record<T>(uid: string, what: string, call: () => Promise<T>, to = TO): Promise<T> {
    const at = this.#clock.now();
    const start = this.#clock.monotonic();
    const add = (failed?: string) => {
      if (uid === "") return;
      const tookMs = this.#clock.monotonic() - start;
      this.#keep(uid, { to, what, at, tookMs, ...(failed !== undefined && { failed: failed.slice(0, 120) }) });
    };
    try {
      const result = await call();
      add();
      return result;
    } catch (error) {
      add(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }
}
