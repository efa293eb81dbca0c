/**
 * The devices of Pods: claims are prepared before a Pod starts, and given back after it has ended.
 *
 *     claims of the Pod ──► checked ──► by driver: NodePrepareResources ──► CDI devices for the containers
 *     the last Pod of a claim has ended ──► NodeUnprepareResources
 *
 * 1. A Pod does not start without its devices: `prepare` throws until all of them are there.
 * 2. A claim is given back once, after its last Pod on this node; a Pod stays until its drivers have done so.
 */
import { type core, equalJson, type resource } from "#api";
import { KeyedLock } from "#base";
import { messageOf } from "../containers/index.ts";
import type { PodObjects } from "../objects/index.ts";
import { type PodCalls, unrecorded } from "../runtime/recorded.ts";
import type { ClaimName, DraDriver, PreparedDevice } from "./dra-drivers.ts";
import { type DraMetrics, unmeasured } from "./dra-metrics.ts";
import type { PreparedClaim, PreparedClaims } from "./prepared-claims.ts";
import { claimProblem, claimsOf } from "./resource-claims.ts";

export interface ClaimedDevices {
  /** Throws, with the reason, while a claim cannot be used or its devices are not there. */
  prepare(pod: core.Pod, signal: AbortSignal): Promise<void>;
  /** The fully qualified names of a container's devices. */
  cdiDevices(pod: core.Pod, container: ClaimingContainer): readonly string[];
  /** By entry of the container's claims: `name`, or `name/request`; empty for extended resources. */
  held(pod: core.Pod, container: ClaimingContainer): readonly HeldClaim[];
  /** Throws while a driver does not give its devices back. */
  release(podUid: string, signal: AbortSignal): Promise<void>;
  /** Uids of the Pods that have devices. */
  users(): ReadonlySet<string>;
}

type ClaimingContainer = Pick<core.Container, "name" | "resources">;

export interface HeldClaim {
  readonly entry: string;
  readonly claim: ClaimName;
  readonly devices: readonly HeldDevice[];
}

export interface HeldDevice extends PreparedDevice {
  readonly driver: string;
}

export interface ClaimedDevicesOptions {
  readonly objects: Pick<PodObjects, "resourceClaim">;
  /** Throws if the driver is not registered. */
  readonly driver: (name: string) => DraDriver;
  readonly claims: PreparedClaims;
  readonly callsOf?: ((podUid: string) => PodCalls) | undefined;
  readonly metrics?: DraMetrics | undefined;
}

/** All claims of a node, one after the other: drivers expect it of a kubelet. */
const ALL = "";

export function claimedDevices(options: ClaimedDevicesOptions): ClaimedDevices {
  const { objects, driver, claims, callsOf = () => unrecorded, metrics = unmeasured } = options;
  const lock = new KeyedLock();
  return {
    prepare: async (pod, signal) => {
      if (!hasClaims(pod)) return;
      await metrics.operated("PrepareResources", async () => {
        const wanted = await usable(objects, pod);
        if (wanted.length > 0) await lock.run(ALL, () => prepare(wanted, pod.metadata.uid ?? "", signal));
      });
    },
    cdiDevices(pod, container) {
      const ids = held(pod, container).flatMap(({ devices }) => devices.flatMap(({ cdiDeviceIds }) => cdiDeviceIds));
      return [...new Set(ids)];
    },
    held,
    release: async (podUid, signal) => {
      if (!users().has(podUid)) return;
      await metrics.operated("UnprepareResources", () => lock.run(ALL, () => release(podUid, signal)));
    },
    users,
  };

  function held(pod: core.Pod, container: ClaimingContainer): readonly HeldClaim[] {
    const named = claimsOf(pod);
    if (typeof named === "string") return [];
    return asked(pod, container).flatMap(({ name, request }) => {
      const found = named.find((each) => each.entry === name);
      const claim = found && claims.named(pod.metadata.namespace ?? "", found.name);
      if (claim === undefined) return [];
      const devices = Object.entries(claim.drivers).flatMap(([driverName, each]) =>
        (each ?? []).filter((device) => isFor(device, request)).map((device) => ({ ...device, driver: driverName })),
      );
      return [{ entry: request === "" || name === "" ? name : `${name}/${request}`, claim: nameOf(claim), devices }];
    });
  }

  function users(): ReadonlySet<string> {
    return new Set(claims.list().flatMap(({ podUids }) => podUids));
  }

  async function prepare(wanted: readonly resource.ResourceClaim[], podUid: string, signal: AbortSignal) {
    const byDriver = new Map<string, ClaimName[]>();
    for (const claim of wanted) {
      const known = await begun(claim, podUid);
      for (const [name, devices] of Object.entries(known.drivers))
        if (devices === null) byDriver.set(name, [...(byDriver.get(name) ?? []), nameOf(known)]);
    }
    for (const [name, list] of byDriver) {
      const work = () => called("NodePrepareResources", () => driver(name).prepare(list, signal));
      const answers = await callsOf(podUid).record("devices", `NodePrepareResources ${name}: ${namesOf(list)}`, work);
      for (const claim of list) {
        const answer = answers.get(claim.uid);
        if (answer === undefined) throw new Error(`NodePrepareResources skipped ResourceClaim ${claim.name}`);
        if (answer.error !== "")
          throw new Error(`NodePrepareResources failed for ResourceClaim ${claim.name}: ${answer.error}`);
        const now = claims.get(claim.uid);
        if (now !== undefined) await claims.set({ ...now, drivers: { ...now.drivers, [name]: answer.devices } });
      }
    }
  }

  /** The claim with this Pod as a user, in the file. */
  async function begun(claim: resource.ResourceClaim, podUid: string): Promise<PreparedClaim> {
    const { uid = "", namespace = "", name = "" } = claim.metadata;
    const drivers = new Set((claim.status?.allocation?.devices?.results ?? []).map((each) => each.driver));
    const known = claims.get(uid);
    const next: PreparedClaim = {
      uid,
      namespace,
      name,
      podUids: [...new Set([...(known?.podUids ?? []), podUid])],
      drivers: Object.fromEntries([...drivers].map((each) => [each, known?.drivers[each] ?? null])),
    };
    if (known === undefined || !equalJson([...known.podUids], [...next.podUids])) await claims.set(next);
    return next;
  }

  async function release(podUid: string, signal: AbortSignal): Promise<void> {
    const last: PreparedClaim[] = [];
    for (const claim of claims.list()) {
      if (!claim.podUids.includes(podUid)) continue;
      const podUids = claim.podUids.filter((each) => each !== podUid);
      // The last Pod stays in the file until the drivers have given the devices back.
      if (podUids.length === 0) last.push(claim);
      else await claims.set({ ...claim, podUids });
    }
    const names = new Set(last.flatMap(({ drivers }) => Object.keys(drivers)));
    for (const name of names) {
      const list = last.filter(({ drivers }) => Object.hasOwn(drivers, name)).map(nameOf);
      const work = () => called("NodeUnprepareResources", () => driver(name).unprepare(list, signal));
      const answers = await callsOf(podUid).record("devices", `NodeUnprepareResources ${name}: ${namesOf(list)}`, work);
      for (const claim of list) {
        const error = answers.get(claim.uid);
        if (error === undefined) throw new Error(`NodeUnprepareResources skipped ResourceClaim ${claim.name}`);
        if (error !== "") throw new Error(`NodeUnprepareResources failed for ResourceClaim ${claim.name}: ${error}`);
      }
    }
    for (const { uid } of last) await claims.delete(uid);
  }
}

/** The Pod's claims, from the API. Throws if the Pod may not use one of them. */
async function usable(
  objects: Pick<PodObjects, "resourceClaim">,
  pod: core.Pod,
): Promise<readonly resource.ResourceClaim[]> {
  const named = claimsOf(pod);
  if (typeof named === "string") throw new Error(named);
  const found: resource.ResourceClaim[] = [];
  for (const each of named) {
    let claim: resource.ResourceClaim;
    try {
      claim = await objects.resourceClaim(pod.metadata.namespace ?? "", each.name);
    } catch (error) {
      throw new Error(`fetch ResourceClaim ${each.name}: ${messageOf(error)}`, { cause: error });
    }
    const problem = claimProblem(pod, each, claim);
    if (problem !== undefined) throw new Error(problem);
    found.push(claim);
  }
  return found;
}

/** What a container asks of its Pod's claims; one for extended resources has an empty name, as in `claimsOf`. */
function asked({ status }: core.Pod, container: ClaimingContainer): readonly { name: string; request: string }[] {
  const mappings = status?.extendedResourceClaimStatus?.requestMappings ?? [];
  return [
    ...(container.resources?.claims ?? []).map(({ name, request = "" }) => ({ name, request })),
    ...mappings
      .filter(({ containerName }) => containerName === container.name)
      .map(({ requestName: request }) => ({ name: "", request })),
  ];
}

function hasClaims({ spec, status }: core.Pod): boolean {
  return (spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;
}

function namesOf(list: readonly ClaimName[]): string {
  return list.map(({ name }) => name).join(", ");
}

function nameOf({ namespace, uid, name }: ClaimName): ClaimName {
  return { namespace, uid, name };
}

/** A container may ask for one request of a claim: devices of its alternatives are `request/alternative`. */
function isFor({ requestNames }: PreparedDevice, request: string): boolean {
  if (request === "" || requestNames.length === 0) return true;
  return requestNames.some((name) => name === request || name.split("/")[0] === request);
}

async function called<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const text = messageOf(error);
    throw new Error(text.startsWith("DRA driver ") ? text : `${what}: ${text}`, { cause: error });
  }
}
