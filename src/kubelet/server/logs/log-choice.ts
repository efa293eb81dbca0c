/** Which instance of a container has the requested log, by the Pod's status. */

import type { core } from "#api";
import { table } from "#base";
import { Refusal } from "../exchange.ts";

/** The id in the runtime. Throws Refusal if there is none. */
export function loggedContainer(pod: core.Pod, name: string, previous: boolean): string {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  const status = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(
    (each) => each.name === name,
  );
  const which = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (status === undefined) throw new Refusal(400, `${which} is not available`);
  const { state = {}, lastState = {} } = status;
  const last = idOf(lastState.terminated?.containerID);
  if (previous) {
    if (last === "") throw new Refusal(400, `previous terminated ${which} not found`);
    return last;
  }
  if (state.running !== undefined) return idOf(status.containerID);
  if (state.terminated !== undefined) {
    const id = idOf(state.terminated.containerID) || last;
    if (id === "") throw new Refusal(400, `${which} is terminated`);
    return id;
  }
  if (last !== "") return last;
  const reason = state.waiting?.reason;
  if (reason === undefined) throw new Refusal(400, `${which} is waiting to start - no logs yet`);
  throw new Refusal(400, `${which} is waiting to start: ${WORDS[reason] ?? reason}`);
}

const WORDS: Readonly<Record<string, string>> = table({
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: "trying and failing to pull image",
});

/** `containerd://abc` → `abc`. */
function idOf(containerId: string | undefined): string {
  const id = containerId ?? "";
  const at = id.indexOf("://");
  return at < 0 ? id : id.slice(at + 3);
}
