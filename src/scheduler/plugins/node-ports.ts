/** NodePorts: a host port can be used by one pod only. */
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
import { hostPortsOf, portsConflict } from "../snapshot/index.ts";

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
          hint: ({ ask }, { old }) => {
            const freed = hostPortsOf((old as core.Pod | undefined)?.spec);
            return freed.some((port) => ask.hostPorts.some((own) => portsConflict(own, port))) ? "queue" : "skip";
          },
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
