/**
 * DefaultTolerationSeconds: a Pod tolerates a node that is not ready or unreachable for five minutes, unless it says
 * otherwise.
 */
import type { core } from "#api";
import { type AdmissionPlugin, podOf, rule } from "../../chain/plugin.ts";

const SECONDS = 300;

/** How long Pods stay that do not say so themselves. */
export interface TolerationSeconds {
  /** `--default-not-ready-toleration-seconds`. Default: 300. */
  readonly notReady?: number | undefined;
  /** `--default-unreachable-toleration-seconds`. Default: 300. */
  readonly unreachable?: number | undefined;
}

export function defaultTolerationSeconds({ notReady, unreachable }: TolerationSeconds = {}): AdmissionPlugin {
  const tolerations = [
    toleration("node.kubernetes.io/not-ready", notReady),
    toleration("node.kubernetes.io/unreachable", unreachable),
  ];
  return {
    name: "DefaultTolerationSeconds",
    mutates: [
      rule("CREATE UPDATE", "pods", (attributes) => {
        const { spec } = podOf(attributes);
        const present = spec.tolerations ?? [];
        const missing = tolerations.filter(({ key }) => !present.some((toleration) => covers(toleration, key)));
        if (missing.length > 0) spec.tolerations = [...present, ...missing.map((each) => ({ ...each }))];
      }),
    ],
  };
}

function toleration(key: string, tolerationSeconds = SECONDS) {
  return { key, operator: "Exists", effect: "NoExecute", tolerationSeconds } as const;
}

function covers({ key = "", effect }: core.Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || (effect ?? "") === "");
}
