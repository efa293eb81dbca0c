/**
 * DefaultTolerationSeconds: a Pod tolerates a node that is not ready or unreachable for five minutes, unless it says
 * otherwise.
 */
import type { core } from "#api";
import { type AdmissionPlugin, podOf, rule } from "../../chain/plugin.ts";

const SECONDS = 300;
const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  mutates: [
    rule("CREATE UPDATE", "pods", (attributes) => {
      const { spec } = podOf(attributes);
      const present = spec.tolerations ?? [];
      const missing = TAINTS.filter((taint) => !present.some((toleration) => covers(toleration, taint)));
      if (missing.length === 0) return;
      spec.tolerations = [
        ...present,
        ...missing.map(
          (key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: SECONDS }) as const,
        ),
      ];
    }),
  ],
};

function covers({ key = "", effect }: core.Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || (effect ?? "") === "");
}
