/**
 * One attempt to make the volume of a claim.
 *
 *     claim, class ──► source ──► node ──► topology ──► secrets ──► CreateVolume ──► PersistentVolume
 *
 * 1. Nothing is written here: the caller writes what is returned. So an attempt can be repeated at any time.
 * 2. CreateVolume has the same name for each attempt of a claim: the driver makes one volume.
 * 3. Before a driver with a controller on each node is called, the claim names the node: another attempt, also of
 *    another process, calls the same controller.
 */
import type { core, storage } from "#api";
import type { Client } from "#client";
import type { CsiDriver, CsiReceived } from "../../csi/index.ts";
import type { DriverAccess } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { readSecret } from "../calls/secrets.ts";
import type { Volume, VolumeClaim } from "../calls/volumes.ts";
import { type ProvisionerSettings, type Wanted, wantedVolume } from "./request.ts";
import { readSource, type Source, sourceReference } from "./source.ts";
import { ProvisioningError, stateAfter } from "./state.ts";
import { flattened, isWithin, segmentsOfNodes, startOf, topologyRequirement } from "./topology.ts";
import { volumeOf } from "./volume.ts";

export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
/** On claims that are being cloned. */
export const CLONING_PROTECTION = "provisioner.storage.kubernetes.io/cloning-protection";

export interface Attempt {
  readonly claim: VolumeClaim;
  readonly storageClass: storage.StorageClass;
  readonly access: DriverAccess;
  readonly client: Client;
  readonly settings: ProvisionerSettings;
  readonly identity: string;
  readonly nodes: readonly core.Node[];
  readonly csiNodeOf: (name: string) => storage.CSINode | undefined;
  readonly attributesClassOf: (name: string) => storage.VolumeAttributesClass | undefined;
  /** Nodes that have just refused a claim which any node may have. */
  readonly avoid: readonly string[];
}

export type Attempted =
  | { readonly type: "made"; readonly volume: Volume }
  /** The claim has to name this node first. */
  | { readonly type: "select"; readonly node: string }
  /** The source has to be protected first. */
  | { readonly type: "protect"; readonly source: VolumeClaim }
  | { readonly type: "populator" };

/** Throws ProvisioningError. */
export async function provision(attempt: Attempt, signal: AbortSignal): Promise<Attempted> {
  const { claim, access, settings, client } = attempt;
  const reference = sourceReference(claim, settings.crossNamespace);
  if (reference === "populator") return { type: "populator" };
  const facts = {
    claim,
    driverName: access.name,
    nodeTopologyKey: access.nodeTopologyKey,
    preventModeConversion: settings.preventVolumeModeConversion,
  };
  const source = reference === undefined ? undefined : await readSource(reference, facts, client, signal);
  const selected = claim.metadata.annotations?.[SELECTED_NODE] ?? "";
  const node = selected === "" ? undefined : selectedNode(selected, attempt);
  const wantedNode = access.nodes() === undefined ? undefined : (source?.node ?? (selected || chosenNode(attempt)));
  if (wantedNode !== undefined && wantedNode !== selected) return { type: "select", node: wantedNode };
  if (source?.claim !== undefined && source.claim.metadata.finalizers?.includes(CLONING_PROTECTION) !== true)
    return { type: "protect", source: source.claim };
  const driver = before(() => access.at(wantedNode));
  return { type: "made", volume: await create(attempt, driver, { source, node }, signal) };
}

interface Place {
  readonly source: Source | undefined;
  readonly node: core.Node | undefined;
}

async function create(
  attempt: Attempt,
  driver: CsiDriver,
  { source, node }: Place,
  signal: AbortSignal,
): Promise<Volume> {
  const { claim, storageClass, access, settings, client, identity, nodes, csiNodeOf } = attempt;
  const abilities = await beforeAsync(() => access.abilities(driver, signal), signal);
  checkSource(source, abilities);
  const wanted = wantedVolume({ claim, storageClass, abilities, settings, attributesClass: attributesOf(attempt) });
  const topology = !abilities.topology
    ? undefined
    : before(
        () =>
          topologyRequirement({
            driverName: access.name,
            claimName: claim.metadata.name ?? "",
            allowed: storageClass.allowedTopologies ?? [],
            selectedNode: node,
            nodes,
            csiNodeOf,
            strict: settings.strictTopology || access.nodeTopologyKey !== undefined,
            immediate: settings.immediateTopology,
          }),
        "error generating accessibility requirements: ",
      );
  const secrets = await beforeAsync(() => readSecret(client, wanted.secrets.provisioner, signal), signal);
  const request = {
    ...wanted.request,
    ...(source !== undefined && { volumeContentSource: source.content }),
    ...(topology !== undefined && { accessibilityRequirements: topology }),
    ...(secrets !== undefined && { secrets }),
  };
  let made: CsiReceived<"Volume"> | null;
  try {
    ({ volume: made } = await driver.Controller.CreateVolume(request, access.limits(signal)));
  } catch (error) {
    if (signal.aborted) throw error;
    const state = stateAfter(error, abilities.topology && node !== undefined);
    throw new ProvisioningError(state, messageOf(error), { cause: error });
  }
  const fault = faultOf(made, { wanted, source, node, access });
  if (made === null || fault !== undefined) {
    await discard(driver, made, { fault: fault ?? "", name: request.name ?? "", secrets, access, signal });
    throw new ProvisioningError("in background", fault ?? "");
  }
  return volumeOf({ claim, storageClass, wanted, made, driverName: access.name, abilities, identity });
}

/** What is wrong with a driver's answer: it is not trusted to be about the node that was asked. */
export function faultOf(
  made: CsiReceived<"Volume"> | null,
  { wanted, source, node, access }: { wanted: Wanted; access: Pick<DriverAccess, "nodeTopologyKey"> } & Place,
): string | undefined {
  if (made === null || made.volumeId === "") return "the driver made a volume without an id";
  const capacity = BigInt(made.capacityBytes);
  if (capacity < 0n || (capacity > 0n && capacity < wanted.requiredBytes))
    return `created volume capacity ${capacity} less than requested capacity ${wanted.requiredBytes}`;
  if (source !== undefined && made.contentSource === null) return "volume content source missing";
  const { nodeTopologyKey: key } = access;
  if (key === undefined) return undefined;
  const found = made.accessibleTopology.map(({ segments }) => segments[key] ?? "");
  const isThere = found.length === 1 && found[0] === node?.metadata.name;
  return isThere
    ? undefined
    : `created volume is accessible on [${found.join(" ")}], not on node ${node?.metadata.name}`;
}

interface Discarded {
  readonly fault: string;
  readonly name: string;
  readonly secrets: Readonly<Record<string, string>> | undefined;
  readonly access: DriverAccess;
  readonly signal: AbortSignal;
}

async function discard(driver: CsiDriver, made: CsiReceived<"Volume"> | null, of: Discarded): Promise<void> {
  const { fault, name, secrets = {}, access, signal } = of;
  if (made === null || made.volumeId === "") return;
  try {
    await driver.Controller.DeleteVolume({ volumeId: made.volumeId, secrets }, access.limits(signal));
  } catch (error) {
    const message = `${fault}. Cleanup of volume ${name} failed, volume is orphaned: ${messageOf(error)}`;
    throw new ProvisioningError("in background", message, { cause: error });
  }
}

function selectedNode(name: string, { nodes }: Attempt): core.Node {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined) throw new ProvisioningError("reschedule", `node "${name}" not found`);
  return node;
}

/** For a claim that any node may have: spread by name, among the nodes that the class allows. */
function chosenNode({ claim, storageClass, access, nodes, csiNodeOf, avoid }: Attempt): string {
  const key = access.nodeTopologyKey ?? "";
  const allowed = flattened(storageClass.allowedTopologies ?? []);
  const reachable = access.nodes() ?? [];
  const able = segmentsOfNodes({ driverName: access.name, nodes, csiNodeOf })
    .filter((segments) => allowed.length === 0 || allowed.some((term) => isWithin(term, segments)))
    .map((segments) => segments[key] ?? "")
    .filter((node) => reachable.includes(node));
  const fresh = able.filter((node) => !avoid.includes(node));
  const from = fresh.length > 0 ? fresh : able;
  const chosen = from[startOf(claim.metadata.name ?? "") % Math.max(1, from.length)];
  if (chosen === undefined)
    throw new ProvisioningError(
      "no change",
      "error generating accessibility requirements: no node with a controller of the driver",
    );
  return chosen;
}

function checkSource(source: Source | undefined, { clone, snapshot }: { clone: boolean; snapshot: boolean }): void {
  if (source?.claim !== undefined && !clone)
    throw new ProvisioningError(
      "finished",
      "CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported",
    );
  if (source !== undefined && source.claim === undefined && !snapshot)
    throw new ProvisioningError(
      "finished",
      "CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported",
    );
}

function attributesOf({ claim, attributesClassOf, access }: Attempt): storage.VolumeAttributesClass | undefined {
  const { volumeAttributesClassName: name = "" } = claim.spec ?? {};
  if (name === "") return undefined;
  const found = attributesClassOf(name);
  if (found === undefined)
    throw new ProvisioningError("no change", `volumeattributesclass.storage.k8s.io "${name}" not found`);
  if (found.driverName !== access.name)
    throw new ProvisioningError(
      "finished",
      `VolumeAttributesClass ${name} is for driver ${found.driverName}, not ${access.name}`,
    );
  return found;
}

/** The driver has not been called yet if `work` fails. */
function before<T>(work: () => T, prefix = ""): T {
  try {
    return work();
  } catch (error) {
    throw notCalled(error, prefix);
  }
}

async function beforeAsync<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw error;
    throw notCalled(error, "");
  }
}

function notCalled(error: unknown, prefix: string): ProvisioningError {
  return error instanceof ProvisioningError
    ? error
    : new ProvisioningError("no change", `${prefix}${messageOf(error)}`, { cause: error });
}
