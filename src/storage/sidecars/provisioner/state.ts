/**
 * What a failed attempt to make a volume says about it. The volume of an operation that may still run must not be
 * forgotten: it would be left behind without a PersistentVolume.
 *
 *     finished         nothing runs at the driver
 *     in background    the driver may still be making the volume: the same call is repeated until its end is known
 *     no change        the driver was not called: an earlier call may still run
 *     reschedule       nothing runs, and another node may succeed
 */
import { isGrpcError } from "#grpc";

export type ProvisioningState = "finished" | "in background" | "no change" | "reschedule";

export class ProvisioningError extends Error {
  override readonly name = "ProvisioningError";
  readonly state: ProvisioningState;

  constructor(state: ProvisioningState, message: string, options?: ErrorOptions) {
    super(message, options);
    this.state = state;
  }
}

/** `mayReschedule`: a node was selected, and the driver knows topology. */
export function stateAfter(error: unknown, mayReschedule: boolean): ProvisioningState {
  // Not an answer of the driver: nothing is known of the call.
  if (!isGrpcError(error)) return "in background";
  switch (error.code) {
    case "RESOURCE_EXHAUSTED":
      return mayReschedule ? "reschedule" : "in background";
    case "CANCELLED":
    case "DEADLINE_EXCEEDED":
    case "UNAVAILABLE":
    case "ABORTED":
      return "in background";
    default:
      return "finished";
  }
}
