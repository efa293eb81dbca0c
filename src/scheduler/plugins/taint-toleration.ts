/** TaintToleration: rejects nodes with untolerated taints, and scores down untolerated PreferNoSchedule taints. */
import type { core } from "#api";
import { definePlugin, PASS, type PluginFactory, ready, rejectionsOf } from "../framework/index.ts";
import { normalizeByHighest } from "./normalize.ts";
import { isTolerated, repels } from "./taints.ts";

const NAME = "TaintToleration";
const REPELLED = rejectionsOf(NAME).unresolvable("node(s) had untolerated taint(s)");

type Tolerations = readonly core.Toleration[];

export const taintToleration: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin<Tolerations, Tolerations>({
      name: NAME,
      wakes: [
        {
          resource: "Node",
          actions: ["add", "taints"],
          hint: ({ ask }, event) => {
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            const was = before !== undefined && !repels(before.spec?.taints ?? [], ask.tolerations);
            return !was && !repels(after?.spec?.taints ?? [], ask.tolerations) ? "queue" : "skip";
          },
        },
        { resource: "TargetPod", actions: ["tolerations"] },
      ],
      filter: {
        reads: "node",
        prepare: (ask) => ready(ask.tolerations),
        check: (tolerations, { taints }) => (taints.length > 0 && repels(taints, tolerations) ? REPELLED : PASS),
      },
      score: {
        reads: "node",
        prepare: ({ tolerations }) =>
          ready(tolerations.filter(({ effect }) => effect === undefined || effect === "PreferNoSchedule")),
        of: (tolerations, { taints }) =>
          taints.filter((taint) => taint.effect === "PreferNoSchedule" && !isTolerated(taint, tolerations)).length,
        normalize: (scores, nodes) => normalizeByHighest(scores, nodes, true),
      },
    }),
};
