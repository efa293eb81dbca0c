/** Simulated nodes: their Pods report a life and have addresses, but nothing runs there, and whoever has these addresses is somebody else. */
import { type core, StatusError } from "#api";
import type { Resource } from "../rest/resource.ts";

const SIMULATED = "simulated://";

/** Throws for a node that is simulated, before anybody is called in its name. One that is not known is none. */
export function refuseSimulated(nodes: Resource, name: string): void {
  const stored = nodes.cache.get(name);
  if (stored === undefined) return;
  const { nodeInfo } = (nodes.read(stored) as core.Node).status ?? {};
  if (nodeInfo?.containerRuntimeVersion?.startsWith(SIMULATED) !== true) return;
  const why = `node ${JSON.stringify(name)} is simulated: no containers run there, so there are no logs, and nothing to run commands in or to connect to`;
  throw new StatusError("", `${why} (nodes of \`k8ts up --runtime containerd\` run them)`, { code: 501 });
}
