/** Failures of device plugins in the kubelet's words. */
import { isGrpcError } from "#grpc";
import { messageOf } from "../containers/index.ts";

type PluginMethod = "Allocate" | "GetPreferredAllocation" | "PreStartContainer";

/** Allocations fail with the plugin's own words. */
export async function called<T>(method: PluginMethod, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const why = causeOf(error);
    throw new Error(method === "Allocate" ? why : `device plugin ${method} rpc failed with err: ${why}`, {
      cause: error,
    });
  }
}

function causeOf(error: unknown): string {
  if (!isGrpcError(error)) return messageOf(error);
  const words = error.code.toLowerCase().split("_");
  const code = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return `rpc error: code = ${code} desc = ${error.details}`;
}
