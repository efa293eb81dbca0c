/**
 * The simulated driver as a process.
 *
 *     configuration ──► ResourceSlices ══► API                     on one node, or for all selected nodes
 *     socket in plugins_registry ──► kubelet ──► prepare, unprepare ══► CDI files        on one node only
 *
 * The configuration is read anew all the time: taints, attributes and failures may change while it runs.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type core, kinds } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import type { Client } from "#client";
import { type GrpcServer, methodsOf, servedService, serveGrpc } from "#grpc";
import { type DeviceConfig, readDeviceConfig } from "./device-config.ts";
import { DRA_PLUGIN, DRA_SERVICES, draMethods } from "./dra-messages.ts";
import { type ClaimReference, prepareClaim, unprepareClaim } from "./prepare-claims.ts";
import { publishSlices } from "./publish-slices.ts";

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
  readonly cdiDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_MS = 2_000;

const registration = {
  InfoRequest: {},
  PluginInfo: { type: [1, "string"], name: [2, "string"], endpoint: [3, "string"], supportedVersions: [4, "string[]"] },
  RegistrationStatus: { pluginRegistered: [1, "bool"], error: [2, "string"] },
  RegistrationStatusResponse: {},
} as const;

export async function runDeviceDriver(options: DeviceDriverOptions, signal: AbortSignal): Promise<void> {
  const { configPath, nodeName, client, clock, log } = options;
  const read = async () => readDeviceConfig(await readFile(configPath, "utf8"));
  const { driver } = await read();
  const servers = nodeName === undefined ? [] : await serve(options, driver, nodeName, read);
  try {
    for (;;) {
      try {
        const writes = await publishSlices(
          client,
          { ...(await read()), driver },
          await nodesOf(options, signal),
          signal,
        );
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
): Promise<readonly GrpcServer[]> {
  const endpoint = join(pluginDir, driver, "dra.sock");
  await mkdir(join(pluginDir, driver), { recursive: true, mode: 0o750 });
  await mkdir(registrationDir, { recursive: true, mode: 0o750 });
  const serving = { clock, onError: (path: string, error: unknown) => log.error("call failed", { path, error }) };
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
  const introduction = servedService(
    methodsOf("pluginregistration.Registration", registration, {
      GetInfo: ["InfoRequest", "PluginInfo"],
      NotifyRegistrationStatus: ["RegistrationStatus", "RegistrationStatusResponse"],
    }),
    {
      GetInfo: async () => ({ type: DRA_PLUGIN, name: driver, endpoint, supportedVersions: [...DRA_SERVICES] }),
      NotifyRegistrationStatus: async ({ pluginRegistered, error }) => {
        if (pluginRegistered) log.info("the kubelet has registered the driver", { driver });
        else log.warn("the kubelet has not registered the driver", { driver, reason: error });
        return {};
      },
    },
  );
  return [
    await serveGrpc(`unix://${endpoint}`, services, serving),
    await serveGrpc(`unix://${join(registrationDir, `${driver}-reg.sock`)}`, [introduction], serving),
  ];
}
