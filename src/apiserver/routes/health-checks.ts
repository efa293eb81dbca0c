/**
 * The health checks of an API server, under the names that probes and dashboards know.
 *
 * 1. What Kubernetes does in hooks after the start of its server is done here in two phases: before the port is open,
 *    and when the server joins its cluster. A hook is healthy once its phase is over.
 */
import type { Clock } from "#base";
import type { Store } from "#store";
import type { HealthCheck } from "./health.ts";

const TIMEOUT_MS = 2_000;

/** Done when the caches are loaded and the first objects are there: before the port is open. */
const WHEN_OPEN = "open";
/** Done when the server is known in its cluster: its Service, its identity. */
const WHEN_JOINED = "joined";

const HOOKS: readonly (readonly [string, typeof WHEN_OPEN | typeof WHEN_JOINED])[] = [
  ["poststarthook/start-apiserver-admission-initializer", WHEN_OPEN],
  ["poststarthook/generic-apiserver-start-informers", WHEN_OPEN],
  ["poststarthook/priority-and-fairness-config-consumer", WHEN_OPEN],
  ["poststarthook/priority-and-fairness-filter", WHEN_OPEN],
  ["poststarthook/storage-object-count-tracker-hook", WHEN_OPEN],
  ["poststarthook/start-apiextensions-informers", WHEN_OPEN],
  ["poststarthook/start-apiextensions-controllers", WHEN_OPEN],
  ["poststarthook/crd-informer-synced", WHEN_OPEN],
  ["poststarthook/start-system-namespaces-controller", WHEN_OPEN],
  ["poststarthook/peer-endpoint-reconciler-controller", WHEN_JOINED],
  ["poststarthook/start-cluster-authentication-info-controller", WHEN_OPEN],
  ["poststarthook/start-kube-apiserver-identity-lease-controller", WHEN_JOINED],
  ["poststarthook/start-kube-apiserver-identity-lease-garbage-collector", WHEN_JOINED],
  ["poststarthook/storage-readiness", WHEN_OPEN],
  ["poststarthook/start-legacy-token-tracking-controller", WHEN_OPEN],
  ["poststarthook/start-service-ip-repair-controllers", WHEN_OPEN],
  ["poststarthook/rbac/bootstrap-roles", WHEN_OPEN],
  ["poststarthook/scheduling/bootstrap-system-priority-classes", WHEN_OPEN],
  ["poststarthook/priority-and-fairness-config-producer", WHEN_OPEN],
  ["poststarthook/bootstrap-controller", WHEN_JOINED],
  ["poststarthook/start-kubernetes-service-cidr-controller", WHEN_JOINED],
  ["poststarthook/start-kube-aggregator-informers", WHEN_OPEN],
  ["poststarthook/apiservice-status-local-available-controller", WHEN_OPEN],
  ["poststarthook/apiservice-status-remote-available-controller", WHEN_OPEN],
  ["poststarthook/apiservice-registration-controller", WHEN_OPEN],
  ["poststarthook/apiservice-discovery-controller", WHEN_OPEN],
  ["poststarthook/kube-apiserver-autoregistration", WHEN_OPEN],
  ["autoregister-completion", WHEN_OPEN],
  ["poststarthook/apiservice-openapi-controller", WHEN_OPEN],
  ["poststarthook/apiservice-openapiv3-controller", WHEN_OPEN],
];

export interface StoreTimeouts {
  readonly healthTimeoutMs?: number | undefined;
  readonly readyTimeoutMs?: number | undefined;
}

export interface HealthFacts {
  readonly store: Pick<Store, "revision">;
  readonly stopping: AbortSignal;
  /** Whether the server has joined its cluster. */
  joined(): boolean;
  /** How long the store may take. Default: 2 s. */
  readonly timeouts?: StoreTimeouts | undefined;
  /** Whether it is about to stop. */
  leaving?(): boolean;
  /** How long after now /livez takes unfinished hooks for finished. Default: not at all. */
  readonly livezGrace?: { readonly ms: number; readonly clock: Clock } | undefined;
  /** Of other parts, such as the keys of encryption. */
  readonly others: readonly HealthCheck[];
}

export function healthChecks(facts: HealthFacts): Record<string, readonly HealthCheck[]> {
  const { store, stopping, joined, others } = facts;
  const { healthTimeoutMs = TIMEOUT_MS, readyTimeoutMs = TIMEOUT_MS } = facts.timeouts ?? {};
  const well = (name: string): HealthCheck => ({ name, check: async () => {} });
  const stored = (name: string, timeoutMs: number): HealthCheck => ({
    name,
    check: async () => void (await store.revision({ timeoutMs })),
  });
  const etcd = stored("etcd", healthTimeoutMs);
  const shutdown: HealthCheck = {
    name: "shutdown",
    check: async () => {
      if (stopping.aborted || facts.leaving?.() === true) throw new Error("the server is stopping");
    },
  };
  const hooksBy = (finished: () => boolean) =>
    HOOKS.map(([name, phase]): HealthCheck => {
      if (phase === WHEN_OPEN) return well(name);
      const check = async () => {
        if (!finished()) throw new Error("not finished");
      };
      return { name, check };
    });
  const hooks = hooksBy(joined);
  const inGrace = graceFrom(facts);
  // The server calls itself in its own process: there is no certificate that could expire.
  const living = [well("ping"), well("log"), well("loopback-serving-certificate"), etcd, ...others];
  return {
    healthz: [...living, ...hooks],
    livez: [...living, ...hooksBy(() => joined() || inGrace())],
    readyz: [
      ...[well("ping"), well("log"), etcd, stored("etcd-readiness", readyTimeoutMs), well("informer-sync")],
      ...others,
      ...hooks,
      shutdown,
    ],
  };
}

function graceFrom({ livezGrace }: HealthFacts): () => boolean {
  if (livezGrace === undefined || livezGrace.ms === 0) return () => false;
  const { ms, clock } = livezGrace;
  const endMs = clock.monotonic() + ms;
  return () => clock.monotonic() < endMs;
}
