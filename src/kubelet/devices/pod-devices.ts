/**
 * All devices of Pods: those of claims (DRA drivers) and those of extended resources (device plugins).
 *
 *     admitted ──► device plugins: Allocate ──► before the sandbox: claims prepared ──► options of each container
 *     ended ──► claims given back, devices free again
 */
import type { core } from "#api";
import { ANYWHERE, type DevicePlugins, type HeldDevice, NO_OPTIONS, type RunOptions } from "../device-plugins/index.ts";
import type { PodFailure } from "../lifecycle/index.ts";
import type { PodObjects } from "../objects/index.ts";
import { type ClaimedDevices, claimedDevices, type HeldClaim } from "./claimed-devices.ts";
import type { DeviceHealth } from "./device-health.ts";
import { PreparedClaims } from "./prepared-claims.ts";

export interface PodDevices {
  /** Why the node cannot take the Pod; undefined once its containers have their devices of plugins. May be repeated. */
  admit(pod: core.Pod): Promise<PodFailure | undefined>;
  /** Throws, with the reason, while a claim cannot be used or its devices are not there. */
  prepare(pod: core.Pod, signal: AbortSignal): Promise<void>;
  /** What the container gets, as it starts. */
  runOptions(pod: core.Pod, container: core.Container): Promise<RunOptions>;
  /** For `allocatedResourcesStatus`. */
  health(pod: core.Pod, container: core.Container): readonly core.ResourceStatus[];
  held(pod: core.Pod, container: core.Container): Held;
  /** Throws while a driver does not give its devices back. */
  release(podUid: string, signal: AbortSignal): Promise<void>;
  /** Uids of the Pods that have devices. */
  users(): ReadonlySet<string>;
}

export interface Held {
  readonly devices: readonly HeldDevice[];
  readonly claims: readonly HeldClaim[];
}

export interface PodDevicesOptions {
  readonly claimed: ClaimedDevices;
  /** Undefined: the node has none. */
  readonly plugins?: DevicePlugins | undefined;
  /** Undefined: the health of devices is not reported. */
  readonly health?: DeviceHealth | undefined;
  /** Whether what is wrong with a device is reported, too. */
  readonly withMessages?: boolean | undefined;
}

/** On a node without drivers and plugins. */
export function withoutDrivers(objects: Pick<PodObjects, "resourceClaim">): PodDevices {
  const driver = (name: string): never => {
    throw new Error(`DRA driver ${name} is not registered`);
  };
  return podDevices({ claimed: claimedDevices({ objects, driver, claims: PreparedClaims.inMemory() }) });
}

export function podDevices({ claimed, plugins, health, withMessages = false }: PodDevicesOptions): PodDevices {
  return {
    async admit(pod) {
      const { initContainers = [], containers = [] } = pod.spec ?? {};
      for (const container of [...initContainers, ...containers]) {
        const problem = await plugins?.allocate(pod, container, ANYWHERE);
        if (problem !== undefined)
          return {
            reason: "UnexpectedAdmissionError",
            message: `Allocate failed due to ${problem}, which is unexpected`,
          };
      }
      return undefined;
    },
    prepare: (pod, signal) => claimed.prepare(pod, signal),
    async runOptions(pod, container) {
      const options = (await plugins?.runOptions(pod, container)) ?? NO_OPTIONS;
      const cdiDevices = [...new Set([...options.cdiDevices, ...claimed.cdiDevices(pod, container)])];
      return { ...options, cdiDevices };
    },
    health(pod, container) {
      if (health === undefined) return [];
      const ofPlugins = plugins?.health(pod.metadata.uid ?? "", container.name) ?? [];
      const ofClaims = claimed.held(pod, container).filter(({ entry }) => entry !== "");
      return [...ofPlugins, ...ofClaims.map((held) => claimHealth(held, health, withMessages))];
    },
    held: (pod, container) => ({
      devices: plugins?.held(pod.metadata.uid ?? "", container.name) ?? [],
      claims: claimed.held(pod, container),
    }),
    async release(podUid, signal) {
      await claimed.release(podUid, signal);
      plugins?.release(podUid);
    },
    users: () => new Set([...claimed.users(), ...(plugins?.users() ?? [])]),
  };
}

function claimHealth({ entry, devices }: HeldClaim, known: DeviceHealth, withMessages: boolean): core.ResourceStatus {
  return {
    name: `claim:${entry}`,
    resources: devices.map(({ driver, poolName, deviceName, cdiDeviceIds: [cdiName] }) => {
      const { health, message } = known.of(driver, poolName, deviceName);
      const resourceID = cdiName ?? `${driver}/${poolName}/${deviceName}`;
      return { resourceID, health, ...(withMessages && message !== "" && { message }) };
    }),
  };
}
