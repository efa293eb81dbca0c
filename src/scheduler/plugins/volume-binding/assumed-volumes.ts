/**
 * Volumes and claims as they will be after pending writes, so that two Pods do not get the same volume.
 *
 * 1. An assumption holds until the cache shows another resourceVersion than the one it is based on, or until it is
 *    forgotten.
 * 2. Two schedulers may assume the same volume: the first write wins.
 */
import { objectKey } from "#client";
import { BOUND_BY_CONTROLLER, type Claim, isVolumeFor, SELECTED_NODE, type Volume } from "../volume-objects.ts";
import type { Match, NodeVolumes } from "./find-volumes.ts";
import type { BindingObjects } from "./volume-access.ts";

interface Assumed<T> {
  readonly object: T;
  /** The resourceVersion that the assumption is based on. */
  readonly from: string | undefined;
}

export class AssumedVolumes {
  readonly #base: BindingObjects;
  readonly #volumes = new Map<string, Assumed<Volume>>();
  readonly #claims = new Map<string, Assumed<Claim>>();
  /** Lookups with assumptions applied. */
  readonly objects: BindingObjects;

  constructor(base: BindingObjects) {
    this.#base = base;
    this.objects = {
      ...base,
      claim: (key) => current(this.#claims, key, base.claim(key)),
      volume: (name) => current(this.#volumes, name, base.volume(name)),
      volumesOfClass: (name) => {
        const volumes = base.volumesOfClass(name);
        if (this.#volumes.size === 0) return volumes;
        return volumes.map((volume) => current(this.#volumes, volume.metadata.name ?? "", volume) ?? volume);
      },
    };
  }

  /** Returns the objects to write. */
  assume({ matches, toProvision }: NodeVolumes, node: string): NodeVolumes {
    return {
      matches: matches.map(({ claim, volume }): Match => {
        const object = boundTo(volume, claim);
        this.#volumes.set(volume.metadata.name ?? "", { object, from: volume.metadata.resourceVersion });
        return { claim, volume: object };
      }),
      toProvision: toProvision.map((claim) => {
        const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: node };
        const object: Claim = { ...claim, metadata: { ...claim.metadata, annotations } };
        this.#claims.set(objectKey(claim), { object, from: claim.metadata.resourceVersion });
        return object;
      }),
    };
  }

  forget({ matches, toProvision }: NodeVolumes): void {
    for (const { volume } of matches) this.#volumes.delete(volume.metadata.name ?? "");
    for (const claim of toProvision) this.#claims.delete(objectKey(claim));
  }

  /** Lookups without assumptions. */
  get known(): BindingObjects {
    return this.#base;
  }
}

function current<T extends Volume | Claim>(
  assumed: Map<string, Assumed<T>>,
  key: string,
  known: T | undefined,
): T | undefined {
  const found = assumed.get(key);
  if (found === undefined) return known;
  if (known !== undefined && known.metadata.resourceVersion === found.from) return found.object;
  assumed.delete(key);
  return known;
}

/** A volume that a user reserved keeps its claimRef; only the uid is added. */
function boundTo(volume: Volume, claim: Claim): Volume {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const chosenHere = !isVolumeFor(volume, claim);
  const claimRef = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const annotations = chosenHere
    ? { ...volume.metadata.annotations, [BOUND_BY_CONTROLLER]: "yes" }
    : volume.metadata.annotations;
  return {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...volume.spec, claimRef: volume.spec?.claimRef?.uid === uid ? { ...volume.spec?.claimRef } : claimRef },
  };
}
