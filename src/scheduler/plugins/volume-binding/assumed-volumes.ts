/**
 * Volumes and claims as they will be once what was decided has been written: two Pods that are placed one after another must not get the same volume.
 *
 * 1. What is assumed holds until the cache shows another revision of the object than the one it was assumed from, or until it is forgotten.
 * 2. Two schedulers at once may assume the same volume: the API server gives it to the first who writes.
 */
import { objectKey } from "#client";
import {
  BOUND_BY_CONTROLLER,
  type Claim,
  isVolumeFor,
  SELECTED_NODE,
  type Volume,
  type VolumeObjects,
} from "../volume-objects.ts";
import type { Match, NodeVolumes } from "./find-volumes.ts";

interface Assumed<T> {
  readonly object: T;
  /** The revision of the object that it was made from. */
  readonly from: string | undefined;
}

export class AssumedVolumes {
  readonly #base: VolumeObjects;
  readonly #volumes = new Map<string, Assumed<Volume>>();
  readonly #claims = new Map<string, Assumed<Claim>>();
  /** What plugins look things up in: what is assumed before what is known. */
  readonly objects: VolumeObjects;

  constructor(base: VolumeObjects) {
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

  /** As they are to be written. */
  assume({ matches, toMake }: NodeVolumes, node: string): NodeVolumes {
    return {
      matches: matches.map(({ claim, volume }): Match => {
        const object = boundTo(volume, claim);
        this.#volumes.set(volume.metadata.name ?? "", { object, from: volume.metadata.resourceVersion });
        return { claim, volume: object };
      }),
      toMake: toMake.map((claim) => {
        const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: node };
        const object: Claim = { ...claim, metadata: { ...claim.metadata, annotations } };
        this.#claims.set(objectKey(claim), { object, from: claim.metadata.resourceVersion });
        return object;
      }),
    };
  }

  forget({ matches, toMake }: NodeVolumes): void {
    for (const { volume } of matches) this.#volumes.delete(volume.metadata.name ?? "");
    for (const claim of toMake) this.#claims.delete(objectKey(claim));
  }

  /** By the API server's word alone. */
  get known(): VolumeObjects {
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

/** What a user has reserved stays theirs: only the uid is added. */
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
