/** What the phases of a start share. */
import type { Features } from "#api";
import type { MetricsRegistry, Random } from "#base";
import type { ClusterPki } from "#pki";
import type { Tracing } from "#tracing";
import type { ClusterConfig, Environment } from "./config/cluster-config.ts";
import type { DataDir } from "./data/data-dir.ts";
import type { ClusterApiServer } from "./in-process/api-server.ts";
import type { OpenedRealNodes } from "./nodes/index.ts";

/** What every phase of a start may use. */
export interface Start extends Environment {
  readonly config: ClusterConfig;
  readonly dir: DataDir;
  readonly features: Features;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
  /** Stops what was started, in reverse order. */
  readonly starting: AsyncDisposableStack;
  /** For the user, once the cluster is ready. */
  readonly notes: string[];
  /** A start that fails leaves nodes as it found them. */
  keepNodes: boolean;
}

/** What runs once the API server does. */
export interface Running {
  readonly pki: ClusterPki;
  readonly tracing: Tracing | undefined;
  readonly api: ClusterApiServer;
  readonly realNodes: OpenedRealNodes | undefined;
}

/** Reports the phase with its duration. */
export async function step<T>(name: string, { clock, progress }: Start, work: () => Promise<[T, string]>): Promise<T> {
  const startMs = clock.monotonic();
  const [result, detail] = await work();
  progress({ name, detail, ms: clock.monotonic() - startMs });
  return result;
}
