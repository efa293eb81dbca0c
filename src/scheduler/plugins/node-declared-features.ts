/** NodeDeclaredFeatures: a Pod that needs a feature of its node waits for a node that declares it. */
import { type core, missingNodeFeatures, neededNodeFeatures } from "#api";
import { definePlugin, PASS, type PluginFactory, ready, rejectionsOf, SKIP } from "../framework/index.ts";

const NAME = "NodeDeclaredFeatures";

export const nodeDeclaredFeatures: PluginFactory = {
  name: NAME,
  gate: "NodeDeclaredFeatures",
  make: () => {
    const rejections = rejectionsOf(NAME);
    return definePlugin<readonly string[]>({
      name: NAME,
      wakes: [
        {
          resource: "Node",
          actions: ["add", "declaredFeatures"],
          hint: ({ pod }, { new: node }) => {
            const needed = neededNodeFeatures(pod.spec);
            const { declaredFeatures } = (node as core.Node | undefined)?.status ?? {};
            return missingNodeFeatures(needed, declaredFeatures).length > 0 ? "skip" : "queue";
          },
        },
        {
          resource: "TargetPod",
          actions: ["update"],
          hint: (_, { old, new: pod }) => (needs(old) === needs(pod) ? "skip" : "queue"),
        },
      ],
      filter: {
        reads: "cluster",
        prepare({ pod }) {
          const needed = neededNodeFeatures(pod.spec);
          return needed.length === 0 ? SKIP : ready(needed);
        },
        check(needed, { node }) {
          const missing = missingNodeFeatures(needed, node.status?.declaredFeatures);
          if (missing.length === 0) return PASS;
          const words = "node declared features check failed - unsatisfied requirements:";
          return rejections.unresolvable(`${words} ${missing.join(", ")}`);
        },
      },
    });
  },
};

function needs(pod: unknown): string {
  return neededNodeFeatures((pod as core.Pod | undefined)?.spec).join();
}
