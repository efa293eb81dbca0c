/** csi_operations_seconds: the calls to CSI drivers, by method and gRPC status. */
import type { Clock, MetricsRegistry } from "#base";
import { isGrpcError } from "#grpc";
import type { CsiDriver } from "#storage/csi";
import { bound } from "../runtime/bound.ts";

/** Wraps the node service of a driver. */
export type MeasureDriver = (driver: string, node: CsiDriver["Node"]) => CsiDriver["Node"];

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
type Call = (...args: readonly unknown[]) => Promise<unknown>;

export function driverMetrics(metrics: MetricsRegistry, clock: Clock): MeasureDriver {
  const seconds = metrics.histogram({
    name: "csi_operations_seconds",
    help: "Container Storage Interface operation duration with gRPC error code status total",
    labels: ["driver_name", "method_name", "grpc_status_code", "migrated"],
    buckets: SECONDS,
  });
  return (driver, node) => {
    const calls = bound(node) as unknown as Readonly<Record<string, Call>>;
    const measured = Object.entries(calls).map(([name, call]) => {
      const counted: Call = async (...args) => {
        const startMs = clock.monotonic();
        const done = (code: string) =>
          seconds.labels(driver, `/csi.v1.Node/${name}`, code, "false").observe((clock.monotonic() - startMs) / 1000);
        try {
          const answer = await call(...args);
          done("OK");
          return answer;
        } catch (error) {
          done(codeOf(error));
          throw error;
        }
      };
      return [name, counted];
    });
    return Object.fromEntries(measured) as CsiDriver["Node"];
  };
}

/** As in Go: NotFound. */
function codeOf(error: unknown): string {
  if (!isGrpcError(error)) return "Unknown";
  const words = error.code.toLowerCase().split("_");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
