/** A node's side of dynamic resource allocation, put together: drivers register, and Pods get their devices. */
import { type Clock, isAbort, type Logger } from "#base";
import type { PodObjects } from "../objects/index.ts";
import type { Runtime, RuntimeVersion } from "../runtime/runtime.ts";
import { needsCdiOfItsOwn, withCdi } from "./cdi.ts";
import { DraDrivers } from "./dra-drivers.ts";
import { type PodDevices, podDevices } from "./pod-devices.ts";
import { PreparedClaims } from "./prepared-claims.ts";

export interface NodeDevicesOptions {
  /** Where prepared claims are kept; undefined for a node without a disk. */
  readonly dir: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface NodeDevices {
  readonly drivers: DraDrivers;
  /** The runtime, with CDI if it does not know it. */
  runtime(runtime: Runtime, version: RuntimeVersion): Runtime;
  /** A function, because objects are watched by what uses it. */
  ofPods(objects: Pick<PodObjects, "resourceClaim">): PodDevices;
  /** Gives back what Pods have that are gone, until the signal aborts. `exists`: whether the node has the Pod. */
  run(exists: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** reconcilePeriod of the kubelet. */
const RECONCILE_MS = 60_000;

export async function nodeDevices({ dir, clock, log }: NodeDevicesOptions): Promise<NodeDevices> {
  const drivers = new DraDrivers(clock);
  const claims = await PreparedClaims.open(dir);
  const driver = (name: string) => drivers.get(name);
  let made: PodDevices | undefined;
  return {
    drivers,
    runtime: (runtime, version) => (needsCdiOfItsOwn(version) ? withCdi(runtime) : runtime),
    ofPods(objects) {
      made = podDevices({ objects, driver, claims });
      return made;
    },
    async run(exists, signal) {
      for (;;) {
        await clock.sleep(RECONCILE_MS, signal);
        for (const uid of made?.users() ?? []) {
          if (exists(uid)) continue;
          try {
            await made?.release(uid, signal);
          } catch (error) {
            if (isAbort(error, signal)) throw error;
            log.warn("devices of a Pod that is gone could not be given back yet", { pod: uid, error });
          }
        }
      }
    },
    close: () => drivers.close(),
  };
}
