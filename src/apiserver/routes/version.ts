/** What /version answers: the API level that k8ts speaks, with its own version as build metadata. */
import { defaultFeatures, type Features, registerBuildInfo } from "#api";
import type { MetricsRegistry } from "#base";
import manifest from "../../../package.json" with { type: "json" };

export const KUBERNETES_VERSION = { major: "1", minor: "36", patch: "4" };
export const K8TS_VERSION: string = manifest.version;

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** The emulated version stands in fields of its own: major and minor stay those of the program. */
export function versionInfo({ emulated, minCompatibility }: Features = defaultFeatures): VersionInfo {
  const { major, minor, patch } = KUBERNETES_VERSION;
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  return {
    major,
    minor,
    emulationMajor: String(emulated.major),
    emulationMinor: String(emulated.minor),
    minCompatibilityMajor: String(minCompatibility.major),
    minCompatibilityMinor: String(minCompatibility.minor),
    gitVersion: `v${major}.${minor}.${patch}+k8ts${K8TS_VERSION}`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${arch}`,
  };
}

/** Which program this is, and what it emulates. `component`: kube, as all components of Kubernetes call it. */
export function registerVersionMetrics(metrics: MetricsRegistry, features: Features = defaultFeatures): void {
  const info = versionInfo(features);
  registerBuildInfo(metrics, info);
  metrics
    .gauge({
      name: "version_info",
      help: "1, with the version of this program, the one that it emulates, and the oldest that it works with.",
      labels: ["component", "binary", "emulation", "min_compat"],
      stability: "ALPHA",
    })
    .labels(
      "kube",
      `${info.major}.${info.minor}`,
      `${info.emulationMajor}.${info.emulationMinor}`,
      `${info.minCompatibilityMajor}.${info.minCompatibilityMinor}`,
    )
    .set(1);
}
