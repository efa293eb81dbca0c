/** Stops the cluster, or the joined machine, of a data directory, and waits until all its resources are released. */
import type { Clock } from "#base";
import { ClusterError, type DataDir, findRunning, isInUse } from "#cluster";

const POLL_MS = 20;

/** False if none was running. */
export async function stopRunning(dir: DataDir, timeoutMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + timeoutMs;
  let signalled: number | undefined;
  for (;;) {
    const found = await findRunning(dir);
    if (!found.running) return signalled !== undefined;
    // Without a state it is still starting, or already stopping: try again.
    if (found.state !== undefined && signalled === undefined) {
      signalled = found.state.pid;
      terminate(signalled);
    }
    while (signalled !== undefined && isInUse(dir) && clock.monotonic() < deadline) await clock.sleep(POLL_MS);
    if (clock.monotonic() >= deadline) {
      const who = signalled === undefined ? "The cluster" : `Process ${signalled}`;
      throw new ClusterError(
        `${who} did not stop within ${timeoutMs / 1000} s. Look at ${dir.log}, then kill it with kill -9: no acknowledged write is lost.`,
      );
    }
    await clock.sleep(POLL_MS);
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return; // it has just exited
    throw new ClusterError(`Cannot stop process ${pid}: ${(error as Error).message}.`, { cause: error });
  }
}
