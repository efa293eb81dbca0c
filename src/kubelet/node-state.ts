import { type core, defaultFeatures } from "#api";
import { cgroupLayout, type NodeFacts } from "./containers/index.ts";
import type { KubeletOptions } from "./kubelet.ts";
import type { KubeletHost } from "./kubelet-host.ts";
import { type Amounts, internalIps, type Pressure } from "./node/index.ts";
import { amountsOf } from "./node-managers.ts";
import { resourceRules } from "./node-resources.ts";
import type { RuntimeHandler } from "./runtime/runtime.ts";

/** What is true of the node, and what changes while its kubelet runs. */
export interface NodeState {
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly facts: () => NodeFacts;
  /** What the runtime's handlers offer, as it said last. */
  handlers: readonly RuntimeHandler[];
  /** The Node object as it was last read or written. */
  node: core.Node;
  pressures: ReadonlySet<Pressure>;
  isShuttingDown: boolean;
}

export function newState(options: KubeletOptions, { machine, cgroupVersion = 1 }: KubeletHost): NodeState {
  const { config, features = defaultFeatures } = options;
  const { nodeName, nodeIps, clusterDns, clusterDomain, rootDir, podLogsRoot } = config;
  const { capacity, allocatable } = amountsOf(config, machine);
  const facts: NodeFacts = {
    nodeName,
    nodeIps,
    allocatable,
    memoryCapacityBytes: machine.memoryBytes,
    clusterDns,
    clusterDomain,
    resolver: machine.resolver,
    cgroupRoot: cgroupLayout(config),
    rules: resourceRules(config, machine, { cgroupVersion, features, allocatable }),
    seccompRoot: `${rootDir}/seccomp`,
    seccompDefault: config.seccompDefault,
    podLogsRoot,
  };
  const state: NodeState = {
    capacity,
    allocatable,
    handlers: [],
    facts: () => ({
      ...facts,
      nodeIps: config.externalCloud === undefined ? nodeIps : (internalIps(state.node) ?? nodeIps),
      handlers: state.handlers,
    }),
    node: { metadata: { name: nodeName } },
    pressures: new Set(),
    isShuttingDown: false,
  };
  return state;
}
