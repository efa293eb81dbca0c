/**
 * Runs the sidecars of a driver in one process, each as long as no other process does its work.
 *
 *     leases of upstream's sidecars --► which ones may work ──► controllers, with shared caches
 *
 * 1. Sidecars share their caches: a change of who may work restarts the others, which is harmless to them.
 * 2. A sidecar that holds a lease gives it back only after its controllers have ended.
 */
import { hostname } from "node:os";
import { kinds } from "#api";
import { type Clock, childController, type Logger, type Random, TaskGroup } from "#base";
import { type Client, type LeaderElectionOptions, leadElected } from "#client";
import { type Controller, type ControllersOptions, runControllers } from "#controllers";
import { type AttacherOptions, attacher } from "./attacher/index.ts";
import { type CapacityOptions, capacities } from "./capacity/index.ts";
import type { DriverControllers } from "./driver-controllers.ts";
import { type HealthOptions, healthMonitor } from "./health/index.ts";
import { type ModifierOptions, volumeModifier } from "./modifier/index.ts";
import { PROVISIONER_ACCOUNT, type ProvisionerOptions, provisioner } from "./provisioner/index.ts";
import { RESIZER_ACCOUNT, type ResizerOptions, resizer } from "./resizer/index.ts";
import { steppingAside } from "./stepping-aside.ts";

export type SidecarName = "provisioner" | "attacher" | "resizer" | "health-monitor";

/** Controllers that work under one lease. */
export interface Sidecar {
  readonly name: SidecarName;
  readonly lease: string;
  readonly controllers: readonly Controller[];
}

export interface SidecarSettings {
  readonly provisioner?: Omit<ProvisionerOptions, "drivers"> | undefined;
  /** Absent: no CSIStorageCapacity objects. */
  readonly capacity?: Omit<CapacityOptions, "drivers" | "account"> | undefined;
  readonly attacher?: Omit<AttacherOptions, "drivers"> | undefined;
  readonly resizer?: (Omit<ResizerOptions, "drivers"> & Pick<ModifierOptions, "extraMetadata">) | undefined;
  readonly health?: Omit<HealthOptions, "drivers"> | undefined;
}

/** All sidecars of a driver, with the names of the leases that upstream's take. */
export function sidecarsOf(drivers: DriverControllers, settings: SidecarSettings = {}): readonly Sidecar[] {
  const name = leaseName(drivers.driverName);
  const room = settings.capacity && capacities({ ...settings.capacity, drivers, account: PROVISIONER_ACCOUNT });
  return [
    {
      name: "provisioner",
      lease: name,
      controllers: [...provisioner({ ...settings.provisioner, drivers }), ...(room === undefined ? [] : [room])],
    },
    {
      name: "attacher",
      lease: `external-attacher-leader-${name}`,
      controllers: attacher({ ...settings.attacher, drivers }),
    },
    {
      name: "resizer",
      lease: `external-resizer-${name}`,
      controllers: [
        resizer({ ...settings.resizer, drivers }),
        volumeModifier({ ...settings.resizer, drivers, account: RESIZER_ACCOUNT }),
      ],
    },
    {
      name: "health-monitor",
      lease: `external-health-monitor-leader-${name}`,
      controllers: healthMonitor({ ...settings.health, drivers }),
    },
  ];
}

/** Characters that a Lease's name may not have become dashes. */
export function leaseName(driverName: string): string {
  const name = driverName.replaceAll(/[^a-zA-Z0-9-]/g, "-");
  return (name.endsWith("-") ? `${name}X` : name).toLowerCase();
}

export interface RunSidecarsOptions {
  readonly sidecars: readonly Sidecar[];
  /** Reads for all caches. */
  readonly client: Client;
  /** A client of a service account. */
  clientOf(account: string): Client;
  /** Takes the leases, because others may share the work. */
  readonly elects?:
    | (Pick<LeaderElectionOptions, "leaseMs" | "renewDeadlineMs" | "retryMs"> & { readonly namespace: string })
    | undefined;
  readonly enabled?: ControllersOptions["enabled"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ControllersOptions["metrics"];
  /** With which the calls of `sidecars` are recorded: see recordedControllers. */
  readonly calls?: ControllersOptions["calls"];
}

/** Until the signal aborts. */
export async function runSidecars(options: RunSidecarsOptions, signal: AbortSignal): Promise<void> {
  const { sidecars, client, elects, clock, random, log } = options;
  const identity = `${hostname()}_${Buffer.from(random.bytes(8)).toString("hex")}`;
  const shared = new SharedRun(options);
  const tasks = new TaskGroup({ parent: signal });
  const decided = sidecars.map((sidecar) => {
    const { lease, name } = sidecar;
    const { promise, resolve } = Promise.withResolvers<void>();
    const aside = { client, lease, isOwn: (holder: string) => holder === identity, onDecided: resolve };
    tasks.run(`csi ${name}`, (running) =>
      steppingAside({ ...aside, clock, random, log }, running, async (alone) => {
        if (elects === undefined) return shared.work(sidecar, alone);
        const { namespace, ...times } = elects;
        const leases = client.of(kinds.Lease).in(namespace);
        const election = { leases, name: lease, identity, clock, random, log, ...times };
        await leadElected(election, alone, (term) => shared.work(sidecar, term));
      }),
    );
    return promise;
  });
  tasks.run("csi sidecars", (running) => shared.run(Promise.all(decided), running));
  await tasks.done();
}

/** Runs the controllers of those sidecars that work now. */
class SharedRun {
  readonly #options: RunSidecarsOptions;
  readonly #working = new Set<Sidecar>();
  #changed = Promise.withResolvers<void>();
  /** Resolves when no controller of an earlier set runs. */
  #replaced = Promise.withResolvers<void>();
  #isOver = false;

  constructor(options: RunSidecarsOptions) {
    this.#options = options;
  }

  /** Until the signal aborts and the sidecar's controllers have ended. */
  async work(sidecar: Sidecar, signal: AbortSignal): Promise<void> {
    this.#working.add(sidecar);
    void this.#change();
    await aborted(signal);
    this.#working.delete(sidecar);
    await this.#change();
  }

  async run(decided: Promise<unknown>, signal: AbortSignal): Promise<void> {
    await Promise.race([decided, aborted(signal)]);
    const { sidecars: _, elects: __, ...options } = this.#options;
    while (!signal.aborted) {
      using term = childController(signal);
      const changed = this.#changed.promise.then(() => term.abort(new Error("other sidecars work now")));
      const controllers = [...this.#working].flatMap((sidecar) => sidecar.controllers);
      this.#replaced.resolve();
      this.#replaced = Promise.withResolvers();
      if (controllers.length === 0) await aborted(term.signal);
      else await runControllers({ ...options, controllers, instance: hostname() }, term.signal);
      if (!signal.aborted) await changed;
    }
    this.#replaced.resolve();
    this.#isOver = true;
  }

  /** Asks for a run of the current set. Resolves when no earlier one runs. */
  #change(): Promise<void> {
    const replaced = this.#replaced.promise;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    return this.#isOver ? Promise.resolve() : replaced;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
