/** GET /containerLogs/NAMESPACE/POD/CONTAINER: the log of a container, for kubectl logs. */
import { RuntimeError } from "../../runtime/runtime.ts";
import { type Ask, Refusal } from "../exchange.ts";
import { containerNames, podOf, type Served } from "../served.ts";
import { loggedContainer } from "./log-choice.ts";
import { logOptions } from "./log-options.ts";
import { readLog } from "./read-log.ts";

/** Resolves once the log is found. */
export async function containerLog(served: Served, { rest, query, signal }: Ask): Promise<AsyncIterable<Buffer>> {
  const [namespace, podName, name = ""] = rest;
  const { kubelet, clock } = served;
  const { previous, ...request } = logOptions(query, clock);
  const pod = podOf(served, namespace, podName, `pod ${JSON.stringify(podName)} does not exist`);
  if (!containerNames(pod).includes(name))
    throw new Refusal(404, `container ${JSON.stringify(name)} not found in pod ${JSON.stringify(podName)}`);
  const id = loggedContainer(pod, name, previous);
  const status = await kubelet.runtime.containerStatus(id, signal);
  if (status === undefined) throw new Refusal(500, `unable to retrieve container logs for ${id}`);
  const isRunning = async () => {
    try {
      const state = (await kubelet.runtime.containerStatus(id))?.state;
      return state === "running" || state === "created";
    } catch (error) {
      // Containers keep running while the runtime is away; a follower keeps waiting.
      if (error instanceof RuntimeError && error.code === "Unavailable") return true;
      throw error;
    }
  };
  return readLog({ path: status.logPath, ...request }, { clock, isRunning }, signal);
}
