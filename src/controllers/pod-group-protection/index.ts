/**
 * A PodGroup that is deleted stays until none of its Pods is active. The admission plugin PodGroupProtection adds the
 * finalizer.
 *
 * 1. Before the finalizer is removed, the API server is asked for Pods: the cache may not have the newest ones.
 */
import { type core, kinds, optional } from "#api";
import type { Client } from "#client";
import { isFinished } from "../pods/index.ts";
import { protection, withoutFinalizer } from "../pv-protection/index.ts";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";

const FINALIZER = "scheduling.k8s.io/podgroup-protection";

export const podGroupProtection = defineController({
  name: "podgroup-protection-controller",
  gates: ["GenericWorkload"],
  needs: [optional.PodGroup],
  bind({ cache, client }) {
    const groups = cache(optional.PodGroup);
    const podsOf = cache(kinds.Pod).index("activeInGroup", (pod) => (isFinished(pod) ? [] : groupKeysOf(pod)));
    return {
      sources: [
        changesOf(optional.PodGroup, ({ type }) => type !== "deleted"),
        keysFrom(kinds.Pod, ({ object }) =>
          groupKeysOf(object).filter((key) => groups.get(key)?.metadata.deletionTimestamp !== undefined),
        ),
      ],
      async reconcile(key, _now, signal) {
        const group = groups.get(key);
        if (group === undefined || protection(group, FINALIZER) !== "remove if unused") return undefined;
        if (podsOf(key).length > 0 || (await isUsed(key, client, signal))) return undefined;
        return { steps: [[withoutFinalizer(optional.PodGroup, group, FINALIZER)]] };
      },
    };
  },
});

/** `namespace/name`; none or one. */
function groupKeysOf({ metadata, spec }: core.Pod): readonly string[] {
  const name = spec?.schedulingGroup?.podGroupName;
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

async function isUsed(key: string, client: Client, signal: AbortSignal): Promise<boolean> {
  const pods = client.of(kinds.Pod).in(key.split("/")[0] ?? "");
  for await (const pod of pods.each({ signal })) if (!isFinished(pod) && groupKeysOf(pod).includes(key)) return true;
  return false;
}
