/**
 * The simulated device plugin of one node: a socket for each extended resource of the configuration.
 *
 *     kubelet.sock is there, or is another one ──► our socket ──► Register
 *     configuration ···► ListAndWatch --► kubelet
 *
 * 1. A kubelet that starts removes all sockets: the plugin sees it, and registers again.
 */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isAbort, type Logger } from "#base";
import { type GrpcServer, openChannel, type ServedService, servedService, serveGrpc } from "#grpc";
import { containerAnswer, listedDevices, preferredDevices } from "./allocate-devices.ts";
import type { DeviceConfig, SimulatedResource } from "./device-config.ts";
import {
  DEVICE_PLUGIN,
  DEVICE_PLUGIN_VERSION,
  devicePluginMethods,
  deviceRegistrationMethods,
  KUBELET_SOCKET,
} from "./device-plugin-messages.ts";
import { introduction } from "./plugin-registration.ts";

export interface DevicePluginOptions {
  readonly read: () => Promise<DeviceConfig>;
  /** The kubelet's folders of device plugins, and of plugins that register. */
  readonly devicePluginDir: string;
  readonly registrationDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Served {
  readonly servers: readonly GrpcServer[];
  readonly ending: AbortController;
  /** The kubelet's socket at which it registered. */
  readonly at: string | undefined;
}

const LOOK_MS = 1_000;
const REGISTER_TIMEOUT_MS = 10_000;

/** Until the signal aborts. Registers what the configuration has, and what is added to it. */
export async function runDevicePlugin(options: DevicePluginOptions, signal: AbortSignal): Promise<void> {
  const { read, devicePluginDir, clock, log } = options;
  const served = new Map<string, Served>();
  try {
    for (;;) {
      try {
        const { resources } = await read();
        const kubelet = await identityOf(join(devicePluginDir, KUBELET_SOCKET));
        for (const resource of resources) {
          const known = served.get(resource.name);
          const isThere = resource.via === "registry" || (kubelet !== undefined && known?.at === kubelet);
          if (known !== undefined && isThere) continue;
          if (resource.via === "kubelet" && kubelet === undefined) continue;
          await end(known);
          served.delete(resource.name);
          served.set(resource.name, await serve(options, resource, kubelet, signal));
          log.info("the device plugin has registered", { resource: resource.name });
        }
        for (const [name, each] of served) {
          if (resources.some((resource) => resource.name === name)) continue;
          served.delete(name);
          await end(each);
        }
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.warn("the device plugin could not register yet", { error });
      }
      await clock.sleep(LOOK_MS, signal);
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    for (const each of served.values()) await end(each);
  }
}

async function end(served: Served | undefined): Promise<void> {
  served?.ending.abort();
  for (const server of served?.servers ?? []) await server.close();
}

async function serve(
  { read, devicePluginDir, registrationDir, clock, log }: DevicePluginOptions,
  { name, via, preStart, prefers }: SimulatedResource,
  kubelet: string | undefined,
  signal: AbortSignal,
): Promise<Served> {
  const ending = new AbortController();
  const socket = `k8ts-${name.replaceAll("/", "-")}.sock`;
  const endpoint = join(devicePluginDir, socket);
  const options = { preStartRequired: preStart, getPreferredAllocationAvailable: prefers };
  const serving = {
    clock,
    graceMs: 0,
    onError: (path: string, error: unknown) => log.warn("a call failed", { path, error }),
  };
  await mkdir(devicePluginDir, { recursive: true, mode: 0o750 });
  await mkdir(registrationDir, { recursive: true, mode: 0o750 });
  const lifetime = AbortSignal.any([signal, ending.signal]);
  const servers = [await serveGrpc(`unix://${endpoint}`, [service(name, read, options, clock, lifetime)], serving)];
  try {
    if (via === "registry") {
      const info = { type: DEVICE_PLUGIN, name, endpoint, supportedVersions: [DEVICE_PLUGIN_VERSION] };
      const at = `unix://${join(registrationDir, socket)}`;
      servers.push(await serveGrpc(at, [introduction(info, log)], serving));
    } else {
      const channel = openChannel(join(devicePluginDir, KUBELET_SOCKET), { clock, timeoutMs: REGISTER_TIMEOUT_MS });
      try {
        const request = { version: DEVICE_PLUGIN_VERSION, endpoint: socket, resourceName: name, options };
        await channel.call(deviceRegistrationMethods().Register, request, { signal });
      } finally {
        channel.close();
      }
    }
  } catch (error) {
    await end({ servers, ending, at: undefined });
    throw error;
  }
  return { servers, ending, at: kubelet };
}

function service(
  name: string,
  read: () => Promise<DeviceConfig>,
  options: { readonly preStartRequired: boolean; readonly getPreferredAllocationAvailable: boolean },
  clock: Clock,
  lifetime: AbortSignal,
): ServedService {
  const own = async () => {
    const { resources, failures } = await read();
    const resource = resources.find((each) => each.name === name);
    if (resource === undefined) throw new Error(`the configuration has no resource ${name} any more`);
    return { resource, failures };
  };
  return servedService(devicePluginMethods(), {
    GetDevicePluginOptions: async () => options,
    async *ListAndWatch(_request, { signal }) {
      const until = AbortSignal.any([signal, lifetime]);
      for (let last = ""; ; ) {
        const devices = listedDevices((await own()).resource);
        const text = JSON.stringify(devices);
        if (text !== last) yield { devices };
        last = text;
        try {
          await clock.sleep(LOOK_MS, until);
        } catch (error) {
          if (isAbort(error, until)) return;
          throw error;
        }
      }
    },
    async GetPreferredAllocation({ containerRequests }) {
      const { resource } = await own();
      return {
        containerResponses: containerRequests.map(({ availableIds, mustIncludeIds, allocationSize }) => ({
          ids: preferredDevices(resource, availableIds, mustIncludeIds, allocationSize),
        })),
      };
    },
    async Allocate({ containerRequests }) {
      const { resource, failures } = await own();
      if (failures.allocate !== undefined) throw new Error(failures.allocate);
      return { containerResponses: containerRequests.map(({ ids }) => containerAnswer(resource, ids)) };
    },
    async PreStartContainer() {
      const { failures } = await own();
      if (failures.preStart !== undefined) throw new Error(failures.preStart);
      return {};
    },
  });
}

/** What tells one socket from another at the same path; undefined if there is none. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeMs } = await stat(path);
    return `${ino} ${ctimeMs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
