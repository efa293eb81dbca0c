/**
 * A PersistentVolumeClaim that is deleted while a Pod uses it stays until no Pod does.
 *
 * 1. Before the finalizer is removed, the API server is asked for Pods: the cache may not have the newest ones.
 */
import { type core, kinds } from "#api";
import type { Client } from "#client";
import { claimKeysOf } from "../persistent-volume/index.ts";
import { protection, withFinalizer, withoutFinalizer } from "../pv-protection/index.ts";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { holds } from "./in-use.ts";

const FINALIZER = "kubernetes.io/pvc-protection";

export const claimProtection = defineController({
  name: "persistentvolumeclaim-protection-controller",
  account: "pvc-protection-controller",
  bind({ cache, client }) {
    const claims = cache(kinds.PersistentVolumeClaim);
    const podsWith = cache(kinds.Pod).index("claims", claimKeysOf);
    return {
      sources: [
        changesOf(kinds.PersistentVolumeClaim, ({ type, object }) => type !== "deleted" && isOfInterest(object)),
        keysFrom(kinds.Pod, ({ object }) =>
          claimKeysOf(object).filter((key) => claims.get(key)?.metadata.deletionTimestamp !== undefined),
        ),
      ],
      async reconcile(key, _now, signal) {
        const claim = claims.get(key);
        if (claim === undefined) return undefined;
        const wanted = protection(claim, FINALIZER);
        if (wanted === "add") return { steps: [[withFinalizer(kinds.PersistentVolumeClaim, claim, FINALIZER)]] };
        if (wanted === "nothing" || podsWith(key).some((pod) => holds(pod, claim))) return undefined;
        if (await isHeld(claim, client, signal)) return undefined;
        return { steps: [[withoutFinalizer(kinds.PersistentVolumeClaim, claim, FINALIZER)]] };
      },
    };
  },
});

function isOfInterest(claim: core.PersistentVolumeClaim): boolean {
  return protection(claim, FINALIZER) !== "nothing";
}

async function isHeld(claim: core.PersistentVolumeClaim, client: Client, signal: AbortSignal): Promise<boolean> {
  for await (const pod of client
    .of(kinds.Pod)
    .in(claim.metadata.namespace ?? "")
    .each({ signal })) {
    if (holds(pod, claim)) return true;
  }
  return false;
}
