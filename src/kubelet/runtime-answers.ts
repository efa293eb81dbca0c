/** What a kubelet asks its runtime at the start, and whenever it reports its node. */
import { type Clock, isAbort, type Logger } from "#base";
import type { Runtime, RuntimeStatus, RuntimeVersion } from "./runtime/runtime.ts";

const RUNTIME_RETRY_MS = 1000;

interface Asking {
  readonly runtime: Pick<Runtime, "version">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The runtime may start later than the kubelet. */
export async function versionOf({ runtime, clock, log }: Asking, signal: AbortSignal): Promise<RuntimeVersion> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await runtime.version(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst) log.warn("the container runtime does not answer yet", { error });
    }
    await clock.sleep(RUNTIME_RETRY_MS, signal);
  }
}

/** Undefined if the runtime does not answer: the Node's Ready condition reports it. */
export async function statusOf(runtime: Runtime, signal: AbortSignal): Promise<RuntimeStatus | undefined> {
  try {
    return await runtime.status(signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    return undefined;
  }
}
