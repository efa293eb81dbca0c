/** VolumeZone: volumes with zone or region labels need nodes of that zone and region; nodes without such labels fit. */
import { equalJson, type Json, type Labels } from "#api";
import {
  definePlugin,
  PASS,
  type PluginFactory,
  type PodInfo,
  type Prepared,
  type Rejections,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import {
  type Claim,
  claimNotFound,
  claimUses,
  classOfClaim,
  type Volume,
  type VolumeObjects,
  volumeObjects,
} from "./volume-objects.ts";

const NAME = "VolumeZone";
const ELSEWHERE = rejectionsOf(NAME).unresolvable("node(s) had no available volume zone");

/** Volume labels, with the node labels that may replace them. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["topology.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["topology.kubernetes.io/region", "topology.kubernetes.io/region"],
]);

interface Place {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

export const volumeZone: PluginFactory = {
  name: NAME,
  make(_, { informers }) {
    const rejections = rejectionsOf(NAME);
    const objects = volumeObjects(informers);
    return definePlugin<readonly Place[]>({
      name: NAME,
      wakes: [
        {
          resource: "StorageClass",
          actions: ["add"],
          hint: (_pod, event) => (delays(event.new) ? "queue" : "skip"),
        },
        { resource: "Node", actions: ["add", "labels"] },
        {
          resource: "PersistentVolumeClaim",
          actions: ["add", "update"],
          hint: (pod, event) => (pod.claims.includes(keyOf(event.new as Claim)) ? "queue" : "skip"),
        },
        {
          resource: "PersistentVolume",
          actions: ["add", "update"],
          hint: (_pod, event) => (movedPlace(event.old as Volume | undefined, event.new as Volume) ? "queue" : "skip"),
        },
      ],
      filter: {
        reads: "cluster",
        prepare: (pod) => (pod.claims.length === 0 ? SKIP : prepare(pod, objects, rejections)),
        check(places, { labels }) {
          if (!isPlaced(labels)) return PASS;
          return places.every((place) => isThere(place, labels)) ? PASS : ELSEWHERE;
        },
      },
    });
  },
};

function prepare({ pod }: PodInfo, objects: VolumeObjects, rejections: Rejections): Prepared<readonly Place[]> {
  const places: Place[] = [];
  const refuse = (why: string) => rejected(rejections.unresolvable(why));
  for (const { name, key, ephemeral } of claimUses(pod)) {
    if (ephemeral) continue;
    const claim = objects.claim(key);
    if (claim === undefined) return refuse(claimNotFound(name));
    const volumeName = claim.spec?.volumeName ?? "";
    if (volumeName === "") {
      const why = whyUnbound(claim, objects);
      if (why !== undefined) return refuse(why);
      continue;
    }
    const volume = objects.volume(volumeName);
    if (volume === undefined) return refuse(`persistentvolume "${volumeName}" not found`);
    places.push(...placesOf(volume));
  }
  return places.length === 0 ? SKIP : ready(places);
}

function whyUnbound(claim: Claim, objects: VolumeObjects): string | undefined {
  const className = classOfClaim(claim);
  if (className === "") return "PersistentVolumeClaim had no pv name and storageClass name";
  const storageClass = objects.storageClass(className);
  if (storageClass === undefined) return `storageclass.storage.k8s.io "${className}" not found`;
  return delays(storageClass) ? undefined : "PersistentVolume had no name";
}

function delays(storageClass: unknown): boolean {
  return (storageClass as { volumeBindingMode?: string } | undefined)?.volumeBindingMode === "WaitForFirstConsumer";
}

/** Several zones are separated by `__`; a value with an empty zone is ignored. */
function placesOf({ metadata }: Volume): readonly Place[] {
  return Object.entries(metadata.labels ?? {})
    .filter(([key]) => KEYS.has(key))
    .map(([key, value]) => ({ key, values: new Set(value.split("__").map((zone) => zone.trim())) }))
    .filter(({ values }) => !values.has(""));
}

function movedPlace(old: Volume | undefined, volume: Volume): boolean {
  return old === undefined || !equalJson(placesAsJson(old), placesAsJson(volume));
}

function placesAsJson(volume: Volume): Json {
  return placesOf(volume).map(({ key, values }) => [key, ...values].join(" "));
}

function isPlaced(labels: Labels): boolean {
  for (const key of KEYS.keys()) if (Object.hasOwn(labels, key)) return true;
  return false;
}

function isThere({ key, values }: Place, labels: Labels): boolean {
  const own = labels[key] ?? labels[KEYS.get(key) ?? ""];
  return own !== undefined && values.has(own);
}

function keyOf({ metadata }: Claim): string {
  return `${metadata.namespace}/${metadata.name}`;
}
