/**
 * What the containers of a Pod do: from annotations of the Pod under `simulated.k8ts.io/`, otherwise from the script of
 * the container's image, otherwise from its command if it is understood, otherwise from the fleet's defaults.
 * `NAME.CONTAINER` applies to one container, `NAME` to all regular ones.
 *
 *     start-delay     how long the sandbox (with .CONTAINER: the container) takes to start   "2s"
 *     run-for         how long it runs until it exits                                        "30s" or "forever"
 *     exit-code       its exit code                                                          "1"
 *     exit-reason     its exit reason                                                        "OOMKilled"
 *     ready-delay     how long after its start it is ready                                   "5s" or "never"
 *     fail-pull       how often its image cannot be pulled                                   "3" or "always"
 *     stop-delay      how long it takes to exit after SIGTERM, at most the grace period      "10s"
 *     stop-exit-code  the exit code then                                                     "0"
 *     cpu-usage       the CPU that it uses: constant, of its request, or by age              "250m", "80%", "0s=1,1m=2"
 *     memory-usage    the same for memory                                                    "64Mi", "0s=16Mi,5m=1Gi"
 */
import { type core, durationMs } from "#api";
import { isSidecar } from "../lifecycle/index.ts";
import { type Course, readCommand } from "./command.ts";
import { CURVE_FORM, type Curve, parseCurve } from "./curve.ts";

export const PREFIX = "simulated.k8ts.io/";

export interface Defaults {
  /** Until a Pod's sandbox is up. */
  readonly startDelayMs: number;
  /** How long containers of a Job run whose command is not understood. */
  readonly jobRunForMs: number;
  /** The same for init containers. */
  readonly initRunForMs: number;
  readonly stopDelayMs: number;
  /** Exit code after SIGTERM: 128 + 15. */
  readonly stopExitCode: number;
  /** What containers of an image do, where it differs. Default: images have no scripts. */
  readonly images?: ((image: string) => Partial<ContainerScript> | undefined) | undefined;
}

export const DEFAULTS: Defaults = {
  startDelayMs: 100,
  jobRunForMs: 1_000,
  initRunForMs: 100,
  stopDelayMs: 100,
  stopExitCode: 143,
};

export interface ContainerScript {
  readonly startDelayMs: number;
  /** Infinity: until it is stopped. */
  readonly runForMs: number;
  readonly exitCode: number;
  readonly exitReason: string | undefined;
  /** Until its startup probe has passed. */
  readonly startupDelayMs: number;
  /** Infinity: never ready. */
  readonly readyDelayMs: number;
  /** Infinity: its image can never be pulled. */
  readonly failedPulls: number;
  readonly stopDelayMs: number;
  readonly stopExitCode: number;
  /** In thousandths. Undefined: a part of what it requests. */
  readonly cpuUsage: Curve | undefined;
  readonly memoryUsage: Curve | undefined;
}

export interface PodScript {
  readonly startDelayMs: number;
  readonly container: (container: core.Container, role: Role) => ContainerScript;
  /** A sentence for each annotation that cannot be parsed. Such annotations are ignored. */
  readonly problems: readonly string[];
}

export type Role = "init" | "sidecar" | "regular" | "ephemeral";

export function roleOf(container: core.Container): Role {
  return isSidecar(container) ? "sidecar" : "init";
}

export function readScript(pod: core.Pod, defaults: Defaults): PodScript {
  const annotations = new Annotations(pod.metadata.annotations ?? {});
  const ofJob = (pod.metadata.ownerReferences ?? []).some(({ kind, controller }) => kind === "Job" && controller);
  const ownCourse = (container: core.Container, role: Role): Course => {
    const read = readCommand([...(container.command ?? []), ...(container.args ?? [])]);
    if (read !== undefined) return read;
    if (role === "init") return { runForMs: defaults.initRunForMs, exitCode: 0 };
    const endsAlone = role === "regular" && ofJob;
    return { runForMs: endsAlone ? defaults.jobRunForMs : Number.POSITIVE_INFINITY, exitCode: 0 };
  };
  const read = (container: core.Container, role: Role): ContainerScript => {
    const from = annotations.of(container.name, role === "regular");
    const course = ownCourse(container, role);
    const image = defaults.images?.(container.image ?? "") ?? {};
    const exitCode = from.code("exit-code") ?? image.exitCode;
    const runForMs = from.duration("run-for", "forever") ?? image.runForMs;
    return {
      startDelayMs: from.own.duration("start-delay") ?? image.startDelayMs ?? 0,
      runForMs:
        runForMs ?? (exitCode !== undefined && course.runForMs === Number.POSITIVE_INFINITY ? 0 : course.runForMs),
      exitCode: exitCode ?? course.exitCode,
      exitReason: from.text("exit-reason") ?? image.exitReason,
      startupDelayMs: image.startupDelayMs ?? probeDelayMs(container.startupProbe),
      readyDelayMs:
        from.duration("ready-delay", "never") ?? image.readyDelayMs ?? probeDelayMs(container.readinessProbe),
      failedPulls: from.count("fail-pull", "always") ?? image.failedPulls ?? 0,
      stopDelayMs: from.duration("stop-delay") ?? image.stopDelayMs ?? defaults.stopDelayMs,
      stopExitCode: from.code("stop-exit-code") ?? image.stopExitCode ?? defaults.stopExitCode,
      cpuUsage: from.curve("cpu-usage") ?? image.cpuUsage,
      memoryUsage: from.curve("memory-usage") ?? image.memoryUsage,
    };
  };
  const startDelayMs = annotations.all.duration("start-delay") ?? defaults.startDelayMs;
  return { startDelayMs, container: read, problems: annotations.problems };
}

/** When a probe first passes: never if its command is known to fail. */
function probeDelayMs(probe: core.Probe | undefined): number {
  const course = probe?.exec === undefined ? undefined : readCommand(probe.exec.command ?? []);
  if (course !== undefined && course.exitCode !== 0) return Number.POSITIVE_INFINITY;
  return (probe?.initialDelaySeconds ?? 0) * 1_000;
}

class Annotations {
  readonly problems: string[] = [];
  readonly all: Reader;
  readonly #annotations: Readonly<Record<string, string>>;

  constructor(annotations: Readonly<Record<string, string>>) {
    this.#annotations = annotations;
    this.all = new Reader((name) => annotations[PREFIX + name], this.problems);
  }

  /** The annotations of one container; with `falls`, those for all containers are the fallback. */
  of(container: string, falls: boolean): Reader & { readonly own: Reader } {
    const own = (name: string) => this.#annotations[`${PREFIX}${name}.${container}`];
    const value = (name: string) =>
      own(name) ?? (falls || name === "fail-pull" ? this.#annotations[PREFIX + name] : undefined);
    return Object.assign(new Reader(value, this.problems), { own: new Reader(own, this.problems) });
  }
}

class Reader {
  readonly #value: (name: string) => string | undefined;
  readonly #problems: string[];

  constructor(value: (name: string) => string | undefined, problems: string[]) {
    this.#value = value;
    this.#problems = problems;
  }

  text(name: string): string | undefined {
    return this.#value(name);
  }

  duration(name: string, endless?: string): number | undefined {
    return this.#read(name, `a duration such as 5s${endless === undefined ? "" : `, or ${endless}`}`, (text) => {
      if (text === endless) return Number.POSITIVE_INFINITY;
      const ms = durationMs(text);
      return ms < 0 ? undefined : ms;
    });
  }

  count(name: string, endless: string): number | undefined {
    return this.#read(name, `a number, or ${endless}`, (text) => {
      if (text === endless || text === "true") return Number.POSITIVE_INFINITY;
      return /^\d+$/.test(text) ? Number(text) : undefined;
    });
  }

  code(name: string): number | undefined {
    return this.#read(name, "a number from 0 to 255", (text) =>
      /^\d+$/.test(text) && Number(text) < 256 ? Number(text) : undefined,
    );
  }

  curve(name: string): Curve | undefined {
    return this.#read(name, CURVE_FORM, parseCurve);
  }

  #read<T>(name: string, form: string, parse: (text: string) => T | undefined): T | undefined {
    const text = this.#value(name);
    if (text === undefined) return undefined;
    try {
      const value = parse(text);
      if (value !== undefined) return value;
    } catch {
      // reported below
    }
    this.#problems.push(`${PREFIX}${name}: ${JSON.stringify(text)} is not ${form}`);
    return undefined;
  }
}
