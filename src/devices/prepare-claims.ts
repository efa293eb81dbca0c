/**
 * What the simulated driver does on a node: a CDI file for each prepared claim.
 *
 * 1. The files are the driver's only state: a driver that was killed goes on where it was.
 * 2. Both calls may be repeated.
 */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kinds, type resource } from "#api";
import type { Client } from "#client";
import type { DeviceConfig, SimulatedDevice } from "./device-config.ts";

export interface ClaimReference {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

export interface PrepareOptions {
  readonly client: Client;
  readonly config: DeviceConfig;
  readonly nodeName: string;
  /** Where the runtime looks for CDI files. */
  readonly cdiDir: string;
}

export interface PreparedDevice {
  readonly requestNames: readonly string[];
  readonly poolName: string;
  readonly deviceName: string;
  readonly cdiDeviceIds: readonly string[];
}

/** Throws the reason. */
export async function prepareClaim(claim: ClaimReference, options: PrepareOptions): Promise<readonly PreparedDevice[]> {
  const { client, config, nodeName, cdiDir } = options;
  const { driver, failures } = config;
  if (failures.prepare !== undefined) throw new Error(failures.prepare);
  const found = await client.of(kinds.ResourceClaim).in(claim.namespace).get(claim.name);
  if (found.metadata.uid !== claim.uid)
    throw new Error(`the claim ${claim.namespace}/${claim.name} is another one now`);
  const results = (found.status?.allocation?.devices?.results ?? []).filter((each) => each.driver === driver);
  const devices = results.map((result) => {
    const known = config.devices.find(({ device }) => device.name === result.device);
    if (known === undefined || result.pool !== nodeName)
      throw new Error(`this node has no device ${result.device} of the pool ${result.pool}`);
    return { result, known };
  });
  const kind = `${driver}/device`;
  const spec = {
    cdiVersion: "0.5.0",
    kind,
    devices: devices.map(({ result, known }) => ({
      name: cdiName(claim, result),
      containerEdits: {
        env: Object.entries({ [variableOf(result.device)]: driver, ...known.env }).map((pair) => pair.join("=")),
        ...(known.file !== undefined && {
          deviceNodes: [{ path: `/dev/${driver}/${result.device}`, hostPath: known.file, permissions: "rw" }],
        }),
      },
    })),
  };
  await mkdir(cdiDir, { recursive: true });
  const path = fileOf(claim, options);
  await writeFile(`${path}.new`, JSON.stringify(spec));
  await rename(`${path}.new`, path);
  await reportDevices(client, found, devices, driver);
  return devices.map(({ result }) => ({
    requestNames: [result.request],
    poolName: result.pool,
    deviceName: result.device,
    cdiDeviceIds: [`${kind}=${cdiName(claim, result)}`],
  }));
}

/** The claim's status says what is known of the network of its devices; of devices without a network, nothing. */
async function reportDevices(
  client: Client,
  claim: resource.ResourceClaim,
  prepared: readonly { readonly result: resource.DeviceRequestAllocationResult; readonly known: SimulatedDevice }[],
  driver: string,
): Promise<void> {
  const own = prepared.flatMap(({ result: { pool, device, shareID }, known: { network } }) =>
    network === undefined
      ? []
      : [{ driver, pool, device, ...(shareID !== undefined && { shareID }), networkData: network }],
  );
  if (own.length === 0) return;
  const others = (claim.status?.devices ?? []).filter((each) => each.driver !== driver);
  const claims = client.of(kinds.ResourceClaim).in(claim.metadata.namespace ?? "");
  await claims.updateStatus({ ...claim, status: { ...claim.status, devices: [...others, ...own] } });
}

export async function unprepareClaim(claim: ClaimReference, options: PrepareOptions): Promise<void> {
  const { failures } = options.config;
  if (failures.unprepare !== undefined) throw new Error(failures.unprepare);
  await rm(fileOf(claim, options), { force: true });
}

function fileOf({ uid }: ClaimReference, { cdiDir, config: { driver } }: PrepareOptions): string {
  return join(cdiDir, `${driver}-${uid}.json`);
}

function cdiName({ uid }: ClaimReference, { device }: resource.DeviceRequestAllocationResult): string {
  return `${uid}-${device}`;
}

/** `DEVICE_GPU_0`. */
function variableOf(device: string): string {
  return `DEVICE_${device.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}
