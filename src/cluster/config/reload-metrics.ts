/** Metrics of a configuration file that is followed, under Kubernetes' names. */
import { hash } from "node:crypto";
import { hostname } from "node:os";
import { identityName } from "#apiserver";
import type { Clock, MetricsRegistry } from "#base";

export interface ReloadMetrics {
  /** The changed file applies, or it is invalid. */
  reloaded(isValid: boolean): void;
}

const DOCUMENTS = { authentication: "AuthenticationConfiguration", authorization: "AuthorizationConfiguration" };

/** Once for each registry and area. `port`: of this server. */
export function reloadMetrics(
  area: keyof typeof DOCUMENTS,
  { metrics, clock, port }: { readonly metrics: MetricsRegistry; readonly clock: Clock; readonly port: number },
): ReloadMetrics {
  const name = (what: string) => `apiserver_${area}_config_controller_automatic_reload${what}`;
  const labels = ["status", "apiserver_id_hash"] as const;
  const total = metrics.counter({
    name: name("s_total"),
    help: `How often the ${DOCUMENTS[area]} was read again, by whether it was valid.`,
    labels,
    stability: "BETA",
  });
  const last = metrics.gauge({
    name: name("_last_timestamp_seconds"),
    help: "When that was last, in seconds since the epoch.",
    labels,
    stability: "BETA",
  });
  const id = `sha256:${hash("sha256", identityName({ hostname: hostname(), port }), "hex")}`;
  return {
    reloaded: (isValid) => {
      const status = isValid ? "success" : "failure";
      total.labels(status, id).inc();
      last.labels(status, id).set(clock.now() / 1000);
    },
  };
}
