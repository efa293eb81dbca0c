/** A Pod that says nothing about it stays for five minutes on a node that is not ready or cannot be reached. */
import type { Draft, KubeObject } from "#api";
import { type AdmissionPlugin, isAbout } from "./plugin.ts";

const SECONDS = 300;
const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

interface Toleration {
  key?: string;
  operator?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  mutate(attributes) {
    if (attributes.operation === "DELETE" || !isAbout(attributes, "", "pods")) return;
    const { spec } = attributes.object as Draft<KubeObject> & { spec?: { tolerations?: Toleration[] } };
    if (spec === undefined) return;
    const present = spec.tolerations ?? [];
    const missing = TAINTS.filter((taint) => !present.some((toleration) => covers(toleration, taint)));
    if (missing.length === 0) return;
    spec.tolerations = [
      ...present,
      ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: SECONDS })),
    ];
  },
};

function covers({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}
