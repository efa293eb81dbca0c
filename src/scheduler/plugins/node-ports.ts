/** A port of the node can be given to one pod only. */
import type { core } from "#api";
import {
  definePlugin,
  type HostPort,
  PASS,
  type PluginFactory,
  ready,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";

const NAME = "NodePorts";
const TAKEN = rejectionsOf(NAME).unschedulable("node(s) didn't have free ports for the requested pod ports");

export const nodePorts: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin<readonly HostPort[]>({
      name: NAME,
      wakes: [
        {
          resource: "AssignedPod",
          actions: ["delete"],
          hint: (_, { old }) => (hasHostPort(old as core.Pod | undefined) ? "queue" : "skip"),
        },
        { resource: "Node", actions: ["add"] },
      ],
      filter: {
        reads: "node",
        prepare: ({ hostPorts }) => (hostPorts.length === 0 ? SKIP : ready(hostPorts)),
        check: (ports, node) => (ports.some((port) => node.isTaken(port)) ? TAKEN : PASS),
      },
    }),
};

function hasHostPort(pod: core.Pod | undefined): boolean {
  const containers = [...(pod?.spec?.containers ?? []), ...(pod?.spec?.initContainers ?? [])];
  return containers.some(({ ports = [] }) => ports.some(({ hostPort = 0 }) => hostPort > 0));
}
