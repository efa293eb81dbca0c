/** kubernetes_build_info: which kubelet this is. */
import { arch, platform } from "node:os";
import type { MetricsRegistry } from "#base";

const LABELS = [
  "build_date",
  "compiler",
  "git_commit",
  "git_tree_state",
  "git_version",
  "go_version",
  "major",
  "minor",
  "platform",
] as const;

/** `version`: v1.36.4+k8ts… What does not exist for a program in JavaScript is empty, or says what it is instead. */
export function registerBuildInfo(metrics: MetricsRegistry, version: string): void {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const machine = arch() === "x64" ? "amd64" : arch();
  metrics
    .gauge({
      name: "kubernetes_build_info",
      help: "1, with what this program was built from as labels.",
      labels: LABELS,
      stability: "BETA",
    })
    .labels("", "node", "", "", version, process.version, major, minor, `${platform()}/${machine}`)
    .set(1);
}
