/**
 * The simulated driver as a process.
 *
 *     configuration ──► ResourceSlices ══► API                     on one node, or for all selected nodes
 *     socket in plugins_registry ──► kubelet ──► prepare, unprepare ══► CDI files        on one node only
 *
 *     extended resources ──► kubelet.sock, or Node capacity of simulated nodes
 *
 * The configuration is read anew all the time: taints, attributes and failures may change while it runs.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type core, kinds } from "#api";
import { type Clock, isAbort, type Logger, TaskGroup } from "#base";
import type { Client } from "#client";
import { type GrpcServer, servedService, serveGrpc } from "#grpc";
import { type DeviceConfig, readDeviceConfig } from "./device-config.ts";
import {
  DRA_HEALTH_SERVICE,
  DRA_PLUGIN,
  DRA_SERVICES,
  draHealthMethods,
  draMethods,
  HealthStatus,
} from "./dra-messages.ts";
import { introduction } from "./plugin-registration.ts";
import { type ClaimReference, prepareClaim, unprepareClaim } from "./prepare-claims.ts";
import { publishCapacity } from "./publish-capacity.ts";
import { publishSlices } from "./publish-slices.ts";
import { runDevicePlugin } from "./run-device-plugin.ts";

export interface DeviceDriverOptions {
  readonly client: Client;
  /** The configuration's file. */
  readonly configPath: string;
  /** The node whose devices these are. Undefined: devices of all selected nodes, for simulated ones. */
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: string | undefined;
  /** The folders of the node's kubelet, and of CDI files. */
  readonly registrationDir: string;
  readonly pluginDir: string;
  /** The folder of device plugins. */
  readonly devicePluginDir: string;
  readonly cdiDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_MS = 2_000;
const HEALTH_REPEAT_MS = 10_000;

export async function runDeviceDriver(options: DeviceDriverOptions, signal: AbortSignal): Promise<void> {
  const { configPath, nodeName, clock, log } = options;
  const read = async () => readDeviceConfig(await readFile(configPath, "utf8"));
  const { driver } = await read();
  const tasks = new TaskGroup({ parent: signal });
  tasks.run("devices", (running) => runDriver(options, driver, read, running));
  // Simulated nodes have no kubelet that plugins could register with.
  if (nodeName !== undefined)
    tasks.run("device plugin", (running) => runDevicePlugin({ ...options, read, clock, log }, running));
  await tasks.done();
}

async function runDriver(
  options: DeviceDriverOptions,
  driver: string,
  read: () => Promise<DeviceConfig>,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName, client, clock, log } = options;
  let servers: readonly GrpcServer[] = [];
  const known = new Set<string>();
  try {
    for (;;) {
      try {
        const { devices, resources } = await read();
        const nodes = await nodesOf(options, signal);
        if (nodeName !== undefined && devices.length > 0 && servers.length === 0)
          servers = await serve(options, driver, nodeName, read, signal);
        let writes = await publishSlices(client, { devices, driver }, nodes, signal);
        if (nodeName === undefined) {
          for (const { name } of resources) known.add(name);
          writes += await publishCapacity(client, resources, known, nodes, signal);
        }
        if (writes > 0) log.info("devices are published", { driver, writes });
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.warn("devices could not be published yet", { driver, error });
      }
      await clock.sleep(LOOK_MS, signal);
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    for (const server of servers) await server.close();
  }
}

async function nodesOf(
  { client, nodeName, nodeSelector }: DeviceDriverOptions,
  signal: AbortSignal,
): Promise<readonly core.Node[]> {
  const nodes = client.of(kinds.Node);
  if (nodeName !== undefined) return [await nodes.get(nodeName, { signal })];
  const selected = nodeSelector === undefined ? {} : { labelSelector: nodeSelector };
  return (await nodes.list({ ...selected, signal })).items;
}

async function serve(
  { client, registrationDir, pluginDir, cdiDir, clock, log }: DeviceDriverOptions,
  driver: string,
  nodeName: string,
  read: () => Promise<DeviceConfig>,
  signal: AbortSignal,
): Promise<readonly GrpcServer[]> {
  const endpoint = join(pluginDir, driver, "dra.sock");
  await mkdir(join(pluginDir, driver), { recursive: true, mode: 0o750 });
  await mkdir(registrationDir, { recursive: true, mode: 0o750 });
  const serving = {
    clock,
    graceMs: 500,
    onError: (path: string, error: unknown) => log.error("call failed", { path, error }),
  };
  const each = async <T>(
    claims: readonly ClaimReference[],
    work: (claim: ClaimReference) => Promise<T>,
    failed: (text: string) => T,
  ) => {
    const answers = [];
    for (const claim of claims) {
      const value = await work(claim).catch((error: unknown) =>
        failed(error instanceof Error ? error.message : `${error}`),
      );
      answers.push({ key: claim.uid, value });
    }
    return { claims: answers };
  };
  const health = servedService(draHealthMethods(), {
    NodeWatchResources: (_request, { signal: ended }) =>
      healthOf(read, nodeName, clock, AbortSignal.any([ended, signal])),
  });
  const services = DRA_SERVICES.map((service) =>
    servedService(draMethods(service), {
      NodePrepareResources: async ({ claims }) => {
        const on = { client, config: await read(), nodeName, cdiDir };
        return each(
          claims,
          async (claim) => ({ devices: await prepareClaim(claim, on), error: "" }),
          (error) => ({ devices: [], error }),
        );
      },
      NodeUnprepareResources: async ({ claims }) => {
        const on = { client, config: await read(), nodeName, cdiDir };
        return each(
          claims,
          async (claim) => {
            await unprepareClaim(claim, on);
            return { error: "" };
          },
          (error) => ({ error }),
        );
      },
    }),
  );
  const info = { type: DRA_PLUGIN, name: driver, endpoint, supportedVersions: [...DRA_SERVICES, DRA_HEALTH_SERVICE] };
  return [
    await serveGrpc(`unix://${endpoint}`, [...services, health], serving),
    await serveGrpc(`unix://${join(registrationDir, `${driver}-reg.sock`)}`, [introduction(info, log)], serving),
  ];
}

/** All devices whenever one of them changes, and often enough that none becomes Unknown. */
async function* healthOf(read: () => Promise<DeviceConfig>, nodeName: string, clock: Clock, signal: AbortSignal) {
  for (let last = "", sentMs = Number.NEGATIVE_INFINITY; ; ) {
    const states = (await read()).devices.map(({ device: { name }, problem }) => ({
      device: { poolName: nodeName, deviceName: name },
      health: problem === undefined ? HealthStatus.HEALTHY : HealthStatus.UNHEALTHY,
      message: problem ?? "",
    }));
    const text = JSON.stringify(states);
    if (text !== last || clock.monotonic() - sentMs >= HEALTH_REPEAT_MS) {
      const lastUpdatedTime = Math.floor(clock.now() / 1000);
      yield { devices: states.map((state) => ({ ...state, lastUpdatedTime })) };
      last = text;
      sentMs = clock.monotonic();
    }
    try {
      await clock.sleep(LOOK_MS / 2, signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      throw error;
    }
  }
}
