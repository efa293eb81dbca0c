/** The metrics by which operators see what a component is: its build, and its feature gates. */
import type { MetricsRegistry } from "#base";
import type { Features } from "./features.ts";

const BUILD_LABELS = [
  ...(["major", "minor", "git_version", "git_commit", "git_tree_state"] as const),
  ...(["build_date", "go_version", "compiler", "platform"] as const),
] as const;

/** As /version has them. */
export interface BuildFacts {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** Once for each registry. */
export function registerBuildInfo(metrics: MetricsRegistry, facts: BuildFacts): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = facts;
  metrics
    .gauge({
      name: "kubernetes_build_info",
      help: "1, with what this program was built from as labels.",
      labels: BUILD_LABELS,
      stability: "BETA",
    })
    .labels(major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform)
    .set(1);
}

/** Once for each registry: the components of one process share their features. */
export function registerFeatureMetrics(metrics: MetricsRegistry, features: Features): void {
  const enabled = metrics.gauge({
    name: "kubernetes_feature_enabled",
    help: "Whether a feature gate is on (1) or off (0), and its stage.",
    labels: ["name", "stage"] as const,
    stability: "BETA",
  });
  for (const { name, stage, enabled: on } of features.all()) enabled.labels(name, stage).set(on ? 1 : 0);
}
