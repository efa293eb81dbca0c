/** Releases the sources of clones: a claim is protected until no claim that is made from it is pending. */
import { kinds } from "#api";
import { objectKey } from "#client";
import { type Controller, changesOf, defineController, keysFrom } from "#controllers";
import { hasFinalizer, removeFinalizer, type VolumeClaim } from "../calls/volumes.ts";
import { CLONING_PROTECTION } from "./provision.ts";

export const cloneProtection = (account: string): Controller =>
  defineController({
    name: "csi-cloning-protection",
    account,
    bind({ cache }) {
      const claims = cache(kinds.PersistentVolumeClaim);
      const clonesOf = claims.index("clone of", sourceKeys);
      return {
        sources: [
          changesOf(kinds.PersistentVolumeClaim, ({ object }) => hasFinalizer(object, CLONING_PROTECTION)),
          keysFrom(kinds.PersistentVolumeClaim, ({ object }) => sourceKeys(object)),
        ],
        reconcile(key) {
          const object = claims.get(key);
          if (object === undefined || !hasFinalizer(object, CLONING_PROTECTION)) return undefined;
          if (clonesOf(objectKey(object)).some(isPending)) return undefined;
          const patch = removeFinalizer(CLONING_PROTECTION);
          return { steps: [[{ verb: "patch", resource: kinds.PersistentVolumeClaim, object, patch }]] };
        },
      };
    },
  });

function isPending({ status }: VolumeClaim): boolean {
  return status?.phase === "Pending" || status?.phase === undefined;
}

function sourceKeys({ metadata, spec }: VolumeClaim): readonly string[] {
  const {
    kind,
    name,
    namespace = metadata.namespace,
  } = spec?.dataSourceRef ?? { ...spec?.dataSource, namespace: undefined };
  return kind === "PersistentVolumeClaim" && name !== undefined ? [`${namespace}/${name}`] : [];
}
