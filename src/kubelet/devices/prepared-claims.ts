/**
 * Which claims are prepared on this node, for which Pods, and with which devices: kept in a file, so that the next
 * kubelet can start containers with them, and can give them back.
 *
 *     begin ══► file ──► driver prepares ──► prepared ══► file        driver has given back ──► forget ══► file
 *
 * 1. The format is that of other kubelets (DRACheckpoint v1).
 * 2. A claim is in the file before its driver hears of it: a kubelet that ends in between gives it back later.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { ClaimName, PreparedDevice } from "./dra-drivers.ts";

export interface PreparedClaim extends ClaimName {
  /** Of the Pods that use it. */
  readonly podUids: readonly string[];
  /** By driver; undefined until the driver has prepared it. */
  readonly drivers: Readonly<Record<string, readonly PreparedDevice[] | null>>;
}

const FILE = "dra_manager_state";
const TYPE = { kind: "DRACheckpoint", apiVersion: "checkpoint.dra.kubelet.k8s.io/v1" };

interface StoredClaim {
  readonly ClaimUID: string;
  readonly ClaimName: string;
  readonly Namespace: string;
  readonly PodUIDs: Readonly<Record<string, object>>;
  readonly DriverState: Readonly<Record<string, { readonly Devices: readonly StoredDevice[] | null }>>;
}

interface StoredDevice {
  readonly PoolName: string;
  readonly DeviceName: string;
  readonly ShareID: string | null;
  readonly RequestNames: readonly string[] | null;
  readonly CDIDeviceIDs: readonly string[] | null;
}

export class PreparedClaims {
  readonly #claims = new Map<string, PreparedClaim>();
  readonly #path: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** `dir`: undefined for a node without a disk. */
  private constructor(dir: string | undefined) {
    this.#path = dir === undefined ? undefined : `${dir}/${FILE}`;
  }

  /** For a node without a disk. */
  static inMemory(): PreparedClaims {
    return new PreparedClaims(undefined);
  }

  /** Throws if the file is there but cannot be read: devices would be lost. */
  static async open(dir: string | undefined): Promise<PreparedClaims> {
    const claims = new PreparedClaims(dir);
    const text = claims.#path === undefined ? undefined : await readFile(claims.#path, "utf8").catch(unlessThere);
    if (text === undefined) return claims;
    for (const claim of claimsIn(text, claims.#path ?? "")) claims.#claims.set(claim.uid, claim);
    return claims;
  }

  get(uid: string): PreparedClaim | undefined {
    return this.#claims.get(uid);
  }

  named(namespace: string, name: string): PreparedClaim | undefined {
    return this.list().find((claim) => claim.namespace === namespace && claim.name === name);
  }

  list(): readonly PreparedClaim[] {
    return [...this.#claims.values()];
  }

  /** How many claims each driver has prepared, and all of them (`<any>`). */
  byDriver(): ReadonlyMap<string, number> {
    const counts = new Map([["<any>", this.#claims.size]]);
    for (const { drivers } of this.#claims.values())
      for (const name of Object.keys(drivers)) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  }

  async set(claim: PreparedClaim): Promise<void> {
    this.#claims.set(claim.uid, claim);
    await this.#save();
  }

  async delete(uid: string): Promise<void> {
    this.#claims.delete(uid);
    await this.#save();
  }

  /** Saves are one after the other; each has everything that was set before it. */
  #save(): Promise<void> {
    const write = async () => {
      if (this.#path === undefined) return;
      await writeFile(`${this.#path}.new`, textOf(this.list()), { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function textOf(claims: readonly PreparedClaim[]): string {
  const Entries = claims.map(({ uid, name, namespace, podUids, drivers }): StoredClaim => {
    const states = Object.entries(drivers).map(([driver, devices]) => [
      driver,
      { Devices: devices?.map(storedDevice) ?? null },
    ]);
    return {
      ClaimUID: uid,
      ClaimName: name,
      Namespace: namespace,
      PodUIDs: Object.fromEntries(podUids.map((podUid) => [podUid, {}])),
      DriverState: Object.fromEntries(states),
    };
  });
  const data = JSON.stringify({ ...TYPE, Entries });
  return JSON.stringify({ Data: data, Checksum: crc32(data) });
}

function claimsIn(text: string, path: string): readonly PreparedClaim[] {
  const { Data, Checksum } = JSON.parse(text) as { readonly Data?: string; readonly Checksum?: number };
  if (Data === undefined || crc32(Data) !== Checksum) throw new Error(`checkpoint is corrupted: ${path}`);
  const { kind, apiVersion, Entries } = JSON.parse(Data) as typeof TYPE & { readonly Entries: readonly StoredClaim[] };
  if (kind !== TYPE.kind || apiVersion !== TYPE.apiVersion)
    throw new Error(`${path} is a ${kind} ${apiVersion}, not a ${TYPE.kind} ${TYPE.apiVersion}`);
  return (Entries ?? []).map(({ ClaimUID, ClaimName, Namespace, PodUIDs, DriverState }) => ({
    uid: ClaimUID,
    name: ClaimName,
    namespace: Namespace,
    podUids: Object.keys(PodUIDs),
    drivers: Object.fromEntries(
      Object.entries(DriverState).map(([driver, { Devices }]) => [driver, Devices?.map(preparedDevice) ?? null]),
    ),
  }));
}

function storedDevice({
  poolName,
  deviceName,
  shareId = "",
  requestNames,
  cdiDeviceIds,
}: PreparedDevice): StoredDevice {
  return {
    PoolName: poolName,
    DeviceName: deviceName,
    ShareID: shareId === "" ? null : shareId,
    RequestNames: requestNames,
    CDIDeviceIDs: cdiDeviceIds,
  };
}

function preparedDevice({ PoolName, DeviceName, ShareID, RequestNames, CDIDeviceIDs }: StoredDevice): PreparedDevice {
  return {
    poolName: PoolName,
    deviceName: DeviceName,
    shareId: ShareID ?? "",
    requestNames: RequestNames ?? [],
    cdiDeviceIds: CDIDeviceIDs ?? [],
  };
}

function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
