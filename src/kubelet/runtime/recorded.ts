/**
 * The calls that a kubelet makes for each Pod, to its runtime and for its volumes, and what its probes find out: kept until its next report tells of them.
 *
 * 1. The runtime behaves as it does without this: nothing is held back, changed or swallowed.
 * 2. Of a Pod that reports nothing, the latest calls are kept, and no more.
 */
import type { core } from "#api";
import type { Clock } from "#base";
import type { Call } from "#flows";
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

interface Mounts {
  mount(pod: core.Pod, signal: AbortSignal): Promise<unknown>;
}

export class RuntimeCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, Kept[]>();
  /** Whose container it is. */
  readonly #mounted = new Set<string>();
  readonly #podOf = new Map<string, { readonly uid: string; readonly name: string }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same runtime, whose calls for Pods are noted. */
  recording(runtime: Runtime): Runtime {
    const { images } = runtime;
    return {
      ...bound(runtime),
      runPodSandbox: (config, handler, signal) =>
        this.#note(config.metadata.uid, "RunPodSandbox", () => runtime.runPodSandbox(config, handler, signal)),
      createContainer: async (sandboxId, config, sandbox, signal) => {
        const { name } = config.metadata;
        const { uid } = sandbox.metadata;
        const create = () => runtime.createContainer(sandboxId, config, sandbox, signal);
        const id = await this.#note(uid, `CreateContainer ${name}`, create);
        this.#podOf.set(id, { uid, name });
        return id;
      },
      startContainer: (id, signal) =>
        this.#noteContainer(id, "StartContainer", () => runtime.startContainer(id, signal)),
      stopContainer: (id, graceSeconds, signal) =>
        this.#noteContainer(id, "StopContainer", () => runtime.stopContainer(id, graceSeconds, signal)),
      removeContainer: async (id, signal) => {
        await runtime.removeContainer(id, signal);
        this.#podOf.delete(id);
      },
      images: {
        ...bound(images),
        pull: (image, options, signal) =>
          this.#note(options.sandbox?.metadata.uid ?? "", `PullImage ${image}`, () =>
            images.pull(image, options, signal),
          ),
      },
    };
  }

  /** The same volumes, of which the first time that all are there is noted, and each time that they are not: they are looked after again and again. */
  mounting<T extends Mounts>(volumes: T): T {
    const mount: Mounts["mount"] = (pod, signal) => {
      const { uid = "" } = pod.metadata;
      const names = (pod.spec?.volumes ?? []).map(({ name }) => name);
      if (names.length === 0 || this.#mounted.has(uid)) return volumes.mount(pod, signal);
      return this.#note(uid, `mount ${names.join(", ")}`, () => volumes.mount(pod, signal), "volumes").then(
        (mounted) => {
          this.#mounted.add(uid);
          return mounted;
        },
      );
    };
    return { ...bound(volumes), mount };
  }

  /** Something was found out about a Pod, at this moment. */
  found(uid: string, by: string, what: string, failed?: string): void {
    this.#keep(uid, { to: by, what, at: this.#clock.now(), tookMs: 0, ...(failed !== undefined && { failed }) });
  }

  /** What was called for a Pod since the last time, and when that began. */
  take(uid: string, nowMs: number): { readonly startedAt: number; readonly calls: readonly Call[] } {
    const kept = this.#calls.get(uid) ?? [];
    this.#calls.delete(uid);
    const startedAt = kept[0]?.at ?? nowMs;
    return { startedAt, calls: kept.map(({ at, ...call }) => ({ afterMs: at - startedAt, ...call })) };
  }

  forget(uid: string): void {
    this.#mounted.delete(uid);
    this.#calls.delete(uid);
  }

  #noteContainer<T>(id: string, verb: string, call: () => Promise<T>): Promise<T> {
    const { uid = "", name = id.slice(0, 12) } = this.#podOf.get(id) ?? {};
    return this.#note(uid, `${verb} ${name}`, call);
  }

  #keep(uid: string, call: Kept): void {
    const kept = this.#calls.get(uid) ?? [];
    kept.push(call);
    if (kept.length > MAX_CALLS) kept.shift();
    this.#calls.set(uid, kept);
  }

  async #note<T>(uid: string, what: string, call: () => Promise<T>, to = TO): Promise<T> {
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

/** All its methods, as they are called on it. */
function bound<T extends object>(target: T): T {
  const methods = new Set<string>();
  for (let at: object | null = target; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") methods.add(name);
  }
  const values = target as Record<string, unknown>;
  return Object.fromEntries(
    [...methods].map((name) => {
      const value = values[name];
      return [name, typeof value === "function" ? value.bind(target) : value];
    }),
  ) as T;
}
