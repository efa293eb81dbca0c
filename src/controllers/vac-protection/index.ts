/**
 * A VolumeAttributesClass that is deleted stays until no claim and no volume names it.
 *
 * 1. Before the finalizer is removed, the API server is asked: the caches may not have the newest claims and volumes.
 */
import { type core, kinds } from "#api";
import type { Client } from "#client";
import { protection, withFinalizer, withoutFinalizer } from "../pv-protection/index.ts";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";

const FINALIZER = "kubernetes.io/vac-protection";

export const attributesClassProtection = defineController({
  name: "volumeattributesclass-protection-controller",
  account: "volumeattributesclass-protection-controller",
  bind({ cache, client }) {
    const classes = cache(kinds.VolumeAttributesClass);
    const claimsWith = cache(kinds.PersistentVolumeClaim).index("attributes", classesOfClaim);
    const volumesWith = cache(kinds.PersistentVolume).index("attributes", classesOfVolume);
    const leaving = (names: readonly string[]) =>
      names.filter((name) => classes.get(name)?.metadata.deletionTimestamp !== undefined);
    return {
      sources: [
        changesOf(kinds.VolumeAttributesClass, ({ type }) => type !== "deleted"),
        keysFrom(kinds.PersistentVolumeClaim, ({ object, old }) => leaving(named(classesOfClaim, object, old))),
        keysFrom(kinds.PersistentVolume, ({ object, old }) => leaving(named(classesOfVolume, object, old))),
      ],
      async reconcile(name, _now, signal) {
        const attributes = classes.get(name);
        if (attributes === undefined) return undefined;
        const wanted = protection(attributes, FINALIZER);
        if (wanted === "add") return { steps: [[withFinalizer(kinds.VolumeAttributesClass, attributes, FINALIZER)]] };
        if (wanted === "nothing" || claimsWith(name).length > 0 || volumesWith(name).length > 0) return undefined;
        if (await isNamed(name, client, signal)) return undefined;
        return { steps: [[withoutFinalizer(kinds.VolumeAttributesClass, attributes, FINALIZER)]] };
      },
    };
  },
});

/** The class that a claim has, the one that it asks for, and the one that it changes to. */
export function classesOfClaim({ spec, status }: core.PersistentVolumeClaim): readonly string[] {
  return distinct([
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]);
}

function classesOfVolume({ spec }: core.PersistentVolume): readonly string[] {
  return distinct([spec?.volumeAttributesClassName]);
}

function distinct(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as string[];
}

/** The classes of an object before and after a change. */
function named<T>(classesOf: (object: T) => readonly string[], object: T, old: T | undefined): readonly string[] {
  return old === undefined ? classesOf(object) : distinct([...classesOf(object), ...classesOf(old)]);
}

async function isNamed(name: string, client: Client, signal: AbortSignal): Promise<boolean> {
  for await (const claim of client.of(kinds.PersistentVolumeClaim).each({ signal }))
    if (classesOfClaim(claim).includes(name)) return true;
  for await (const volume of client.of(kinds.PersistentVolume).each({ signal }))
    if (classesOfVolume(volume).includes(name)) return true;
  return false;
}
