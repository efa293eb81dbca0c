/** dra_*: how long preparing takes for Pods and at drivers, and how many claims drivers have prepared. */
import type { Clock, MetricsRegistry } from "#base";
import { isGrpcError } from "#grpc";

export interface DraMetrics {
  /** A call to a driver. `path`: `/package.Service/Method`. */
  called<T>(driver: string, path: string, call: () => Promise<T>): Promise<T>;
  /** All of a Pod's claims. */
  operated<T>(operation: "PrepareResources" | "UnprepareResources", work: () => Promise<T>): Promise<T>;
}

export const unmeasured: DraMetrics = {
  called: (_driver, _path, call) => call(),
  operated: (_operation, work) => work(),
};

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** `inUse`: how many claims each driver has prepared. */
export function draMetrics(
  metrics: MetricsRegistry,
  clock: Clock,
  inUse: () => ReadonlyMap<string, number>,
): DraMetrics {
  const operations = metrics.histogram({
    name: "dra_operations_duration_seconds",
    help: "Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation. The number of failed operations is provided through the histogram's overall count.",
    labels: ["operation_name", "is_error"],
    buckets: SECONDS,
  });
  const calls = metrics.histogram({
    name: "dra_grpc_operations_duration_seconds",
    help: "Duration in seconds of the DRA gRPC operations",
    labels: ["driver_name", "method_name", "grpc_status_code"],
    buckets: SECONDS,
  });
  const claims = metrics.gauge({
    name: "dra_resource_claims_in_use",
    help: "The number of ResourceClaims that are currently in use on the node, by driver name (driver_name label value) and across all drivers (special value <any> for driver_name). Note that the sum of all by-driver counts is not the total number of in-use ResourceClaims because the same ResourceClaim might use devices from different drivers. Instead, use the count for the <any> driver_name.",
    labels: ["driver_name"],
  });
  metrics.collect(() => {
    claims.clear();
    for (const [driver, count] of inUse()) claims.labels(driver).set(count);
  });
  return {
    async called(driver, path, call) {
      const startMs = clock.monotonic();
      const done = (code: string) => calls.labels(driver, path, code).observe((clock.monotonic() - startMs) / 1000);
      try {
        const answer = await call();
        done("OK");
        return answer;
      } catch (error) {
        done(isGrpcError(error) ? goCode(error.code) : "Unknown");
        throw error;
      }
    },
    async operated(operation, work) {
      const startMs = clock.monotonic();
      const done = (isError: boolean) =>
        operations.labels(operation, `${isError}`).observe((clock.monotonic() - startMs) / 1000);
      try {
        const result = await work();
        done(false);
        return result;
      } catch (error) {
        done(true);
        throw error;
      }
    },
  };
}

/** As in Go: NotFound. */
function goCode(code: string): string {
  const words = code.toLowerCase().split("_");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
