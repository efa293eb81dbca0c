/**
 * VolumeBinding: filters nodes by the Pod's volumes, and binds claims that wait for their first consumer.
 *
 *     prepare: the Pod's claims ──► check: volumes by node ──► reserve: assume ──► preBind: write, wait until bound
 *
 * 1. Checking a node has no side effects: the volumes of the chosen node are computed again in reserve.
 * 2. Writes are not undone if the Pod is not bound after all: the next attempt finds its claims bound or in progress.
 */
import { compareQuantities, equalJson, type Json, type KubeObject, parseQuantity, type storage } from "#api";
import {
  type ClusterEvent,
  definePlugin,
  PASS,
  type PluginFactory,
  type PodInfo,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
  type Wake,
} from "../../framework/index.ts";
import { volumeObjects } from "../volume-objects.ts";
import { AssumedVolumes } from "./assumed-volumes.ts";
import { bindVolumes } from "./bind-volumes.ts";
import {
  findVolumes,
  isAccessibleEverywhere,
  type NodeVolumes,
  type VolumeSearch,
  volumeSearch,
} from "./find-volumes.ts";
import { type PodVolumes, podVolumes } from "./pod-volumes.ts";
import { volumeAccess } from "./volume-access.ts";

const NAME = "VolumeBinding";

interface State {
  readonly volumes: PodVolumes;
  readonly search: VolumeSearch;
  /** What was assumed for the chosen node. */
  decided?: NodeVolumes | undefined;
}

export const volumeBinding: PluginFactory = {
  name: NAME,
  make({ VolumeBinding: args }, { client, informers, view, clock }) {
    const rejections = rejectionsOf(NAME);
    const assumed = new AssumedVolumes({ ...volumeObjects(informers), isAccessible: volumeAccess() });
    const timeoutMs = args.bindTimeoutSeconds * 1_000;
    return definePlugin<State>({
      name: NAME,
      wakes: WAKES,
      filter: {
        reads: "cluster",
        prepare(pod) {
          if (pod.claims.length === 0) return SKIP;
          const volumes = podVolumes(pod, assumed.objects);
          if ("fault" in volumes) return rejected(rejections.unresolvable(volumes.fault));
          if (isAccessibleEverywhere(volumes, assumed.objects)) return SKIP;
          return ready({ volumes, search: volumeSearch(volumes, assumed.objects) });
        },
        check({ search }, node) {
          const found = findVolumes(search, node, assumed.objects);
          return "reasons" in found ? rejections.unresolvable(...found.reasons) : PASS;
        },
      },
      reserve(state, _pod, node) {
        if (state === undefined || state.volumes.delayed.length === 0) return PASS;
        const found = findVolumes(volumeSearch(state.volumes, assumed.objects), node, assumed.objects);
        if ("reasons" in found) return rejections.unresolvable(...found.reasons);
        state.decided = assumed.assume(found, node.name);
        return PASS;
      },
      unreserve(state) {
        if (state?.decided === undefined) return;
        assumed.forget(state.decided);
        state.decided = undefined;
      },
      needsPreBind: (state) => state?.decided !== undefined,
      async preBind(state, pod, node, signal) {
        if (state?.decided === undefined) return PASS;
        const context = { client, informers, view, clock, timeoutMs, objects: assumed.known };
        await bindVolumes(state.decided, pod, node, context, signal);
        // The caches show the binding now.
        assumed.forget(state.decided);
        return PASS;
      },
    });
  },
};

const WAKES: readonly Wake[] = [
  { resource: "StorageClass", actions: ["add", "update"], hint: (_, event) => queueIf(movesTopologies(event)) },
  {
    resource: "PersistentVolumeClaim",
    actions: ["add", "update"],
    hint: (pod, event) => queueIf(uses(pod, event.new)),
  },
  { resource: "PersistentVolume", actions: ["add", "update"] },
  { resource: "Node", actions: ["add", "labels"] },
  { resource: "CSINode", actions: ["add", "update"] },
  { resource: "CSIDriver", actions: ["update"] },
  { resource: "CSIStorageCapacity", actions: ["add", "update"], hint: (_, event) => queueIf(grows(event)) },
];

function queueIf(yes: boolean): "queue" | "skip" {
  return yes ? "queue" : "skip";
}

function uses({ claims }: PodInfo, claim: KubeObject | undefined): boolean {
  return claims.includes(`${claim?.metadata.namespace}/${claim?.metadata.name}`);
}

function movesTopologies(event: ClusterEvent): boolean {
  const [before, after] = [event.old, event.new] as (storage.StorageClass | undefined)[];
  if (before === undefined) return true;
  return !equalJson(asJson(before.allowedTopologies), asJson(after?.allowedTopologies));
}

function asJson(value: unknown): Json {
  return (value ?? null) as Json;
}

function grows(event: ClusterEvent): boolean {
  const [before, after] = [event.old, event.new].map((each) => {
    const { capacity, maximumVolumeSize } = (each ?? {}) as Partial<storage.CSIStorageCapacity>;
    return maximumVolumeSize ?? capacity;
  });
  if (after === undefined) return false;
  return before === undefined || compareQuantities(parseQuantity(after), parseQuantity(before)) > 0;
}
