/**
 * Decides whether nodes are real, and installs what they need.
 *
 *     --runtime containerd ──► real nodes, or an error with the reason
 *     --runtime auto ──► real nodes where possible, else simulated ones and a note with the reason
 */
import { existsSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { InvalidArgumentError, Option } from "commander";
import { type Cidr, parseCidr } from "#api";
import { ClusterError, type HostPort, nodeTools, type RealNodesConfig } from "#cluster";
import type { NodesFlagOptions } from "./simulated-nodes.ts";

export interface RealNodesFlagOptions {
  readonly yes?: boolean;
  readonly proxyMode?: "nftables" | "iptables";
  readonly clusterCidr?: readonly string[];
  /** False: none. */
  readonly loadBalancers?: boolean;
  readonly loadBalancerAddresses?: readonly string[];
  readonly ingress?: boolean;
  readonly nodeMount?: readonly string[];
  readonly nodeLoopDevices?: boolean;
  readonly nodeUserNamespaces?: boolean;
  readonly hostPorts?: readonly HostPort[];
  readonly localhost?: boolean;
  readonly registries?: string;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDir?: string;
  readonly publish?: readonly string[];
}

export function realNodesOptions(): readonly Option[] {
  return [
    new Option("--yes", "install the packages that real nodes need (containerd, runc, …) without asking"),
    new Option("--proxy-mode <mode>", "kube-proxy mode of real nodes (default: nftables)").choices([
      "nftables",
      "iptables",
    ]),
    new Option(
      "--cluster-cidr <cidrs>",
      "Pod IP range of real nodes, IPv4 or dual-stack (default: an unused range)",
    ).argParser(podRanges),
    new Option(
      "--load-balancer-addresses <ranges>",
      "IP ranges for Services of type LoadBalancer on real nodes (default: an unused range)",
    ).argParser((value: string) => value.split(",").map((each) => each.trim())),
    new Option("--no-load-balancers", "do not serve Services of type LoadBalancer; another controller does"),
    new Option("--no-ingress", "do not run an ingress controller"),
    new Option(
      "--no-localhost",
      "real nodes: do not serve Ingresses, load balancers and node ports on this machine's loopback",
    ),
    nodeMountOption("of all real nodes"),
    new Option(
      "--registries <file>",
      "registries.yaml: mirrors, certificates and credentials of registries (default: the one in the data directory)",
    ).argParser((file) => resolve(file)),
    new Option(
      "--image-credential-provider-config <file>",
      "CredentialProviderConfig of real nodes: programs that give credentials for images",
    ).argParser((file) => resolve(file)),
    new Option(
      "--image-credential-provider-bin-dir <dir>",
      "folder of this machine with those programs; nodes that start have it",
    ).argParser((dir) => resolve(dir)),
    new Option(
      "--node-loop-devices",
      "real nodes that start have raw block volumes; without user namespaces, their privileged Pods can then open all loop devices of this machine",
    ),
    new Option(
      "--node-user-namespaces",
      "real nodes that are made have user namespaces: their privileged Pods are nobody on this machine, and cannot change settings of its kernel",
    ),
  ];
}

export function nodeMountOption(whose: string): Option {
  return new Option(
    "--node-mount <source:target[:ro]>",
    `folder or file of this machine that becomes a part ${whose} when it starts; repeat for more`,
  ).argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

/** Throws ClusterError for one that cannot be mounted. */
export async function nodeMounts(given: readonly string[]): Promise<NonNullable<RealNodesConfig["mounts"]>> {
  const { mountProblem, parseNodeMount } = await nodeTools();
  return given.map((text) => {
    const mount = parseNodeMount(text);
    const problem = typeof mount === "string" ? mount : mountProblem(mount);
    if (typeof mount === "string" || problem !== undefined) throw new ClusterError(`--node-mount: ${problem}`);
    return mount;
  });
}

export interface NodesChoice {
  /** Absent: nodes are simulated, or there are none. */
  readonly realNodes?: RealNodesConfig;
  /** How many simulated ones. */
  readonly simulated: number;
  readonly notes: readonly string[];
}

type Tools = Pick<
  Awaited<ReturnType<typeof nodeTools>>,
  "obstacles" | "missingPackages" | "wantedHere" | "canInstall" | "installCommand" | "installPackages"
>;

export interface Terminal {
  readonly say: (line: string) => void;
  /** Undefined without an interactive terminal. */
  readonly ask?: (question: string) => Promise<string>;
}

interface Before {
  /** The cluster has real nodes: it keeps them. */
  readonly hasNodes: boolean;
  /** How many simulated ones it had when it last ran: it has them again. */
  readonly hadSimulated?: number | undefined;
  /** Other machines may join the cluster. */
  readonly othersJoin?: boolean;
}

type ChoiceOptions = NodesFlagOptions & RealNodesFlagOptions & Before;

/**
 * One node is the default of a new cluster. Installs packages if the user agrees. Throws ClusterError for a flag that
 * acts on real nodes where there are none.
 */
export async function chooseNodes(options: ChoiceOptions, terminal: Terminal, tools?: Tools): Promise<NodesChoice> {
  const choice = await kindOfNodes(options, terminal, tools);
  const given = choice.realNodes === undefined ? onlyForRealNodes(options) : [];
  if (given.length === 0) return choice;
  const [act, why] = [given.length === 1 ? "acts" : "act", choice.notes.join(" ") || noRealNodes(choice)];
  throw new ClusterError(`${given.join(", ")} ${act} only on real nodes. ${why}`);
}

function noRealNodes({ simulated }: NodesChoice): string {
  if (simulated === 0) return "This cluster has no nodes: give --nodes 1 and --runtime containerd.";
  return "Those of this cluster are simulated: no container runs (real ones: --runtime containerd).";
}

/** What is asked of real nodes. Flags that take something away hold without real nodes, too. */
const ONLY_FOR_REAL_NODES = [
  "proxyMode",
  "clusterCidr",
  "loadBalancerAddresses",
  "nodeMount",
  "nodeLoopDevices",
  "nodeUserNamespaces",
  "hostPorts",
  "registries",
  "imageCredentialProviderConfig",
  "imageCredentialProviderBinDir",
  "publish",
] as const satisfies readonly (keyof ChoiceOptions)[];
/** These are also for the nodes of other machines that join. */
const FOR_JOINING: readonly string[] = ["proxyMode", "clusterCidr"];

function onlyForRealNodes(options: ChoiceOptions): readonly string[] {
  const given = ONLY_FOR_REAL_NODES.filter(
    (name) => options[name] !== undefined && !(options.othersJoin === true && FOR_JOINING.includes(name)),
  );
  return given.map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
}

async function kindOfNodes(options: ChoiceOptions, terminal: Terminal, tools?: Tools): Promise<NodesChoice> {
  const { runtime, hasNodes, hadSimulated } = options;
  const simulated = options.nodes ?? hadSimulated ?? 1;
  const isSimulated = runtime === "simulated" || (runtime === "auto" && describesSimulated(options));
  if (isSimulated) return { simulated, notes: [] };
  const continues = options.nodes === undefined && hasNodes;
  if (runtime === "auto" && !continues && options.nodes === undefined && hadSimulated !== undefined)
    return { simulated, notes: [] };
  const nodes = options.nodes ?? (hasNodes ? 0 : 1);
  if (nodes === 0 && !continues) return { simulated: 0, notes: [] };
  const why = await realNodesObstacle(options, terminal, tools ?? (await nodeTools()));
  if (why === undefined) {
    const commands = machineCommands();
    const { nodeMount = [] } = options;
    const mounts = nodeMount.length === 0 ? undefined : await nodeMounts(nodeMount);
    return { realNodes: { count: nodes, ...commands, ...realNodeSettings(options), mounts }, simulated: 0, notes: [] };
  }
  if (runtime === "containerd") throw new ClusterError(`${why} Or choose --runtime simulated.`);
  if (continues) return { simulated: 0, notes: [`The real nodes of this cluster were left as they are. ${why}`] };
  const which = nodes === 1 ? "The node is" : `The ${nodes} nodes are`;
  return {
    simulated: nodes,
    notes: [`${which} simulated: Pods are reported as running, but no containers run. ${why}`],
  };
}

function providersFrom(options: RealNodesFlagOptions): Pick<RealNodesConfig, "credentialProviders"> {
  const { imageCredentialProviderConfig: configFile, imageCredentialProviderBinDir: binDir } = options;
  if (configFile === undefined && binDir === undefined) return {};
  if (configFile === undefined || binDir === undefined)
    throw new ClusterError(
      "--image-credential-provider-config and --image-credential-provider-bin-dir belong together: give both.",
    );
  for (const path of [configFile, binDir]) if (!existsSync(path)) throw new ClusterError(`${path} does not exist.`);
  return { credentialProviders: { configFile, binDir } };
}

/** The commands of nodes' processes. */
export function machineCommands(): Pick<RealNodesConfig, "command" | "proxyCommand"> {
  return { command: agentCommand(KUBELET_FLAGS), proxyCommand: agentCommand(PROXY_FLAGS) };
}

function realNodeSettings(options: RealNodesFlagOptions): Partial<RealNodesConfig> {
  const { proxyMode, clusterCidr, loadBalancers, ingress, nodeLoopDevices, nodeUserNamespaces } = options;
  const { hostPorts, localhost, registries } = options;
  const addresses = loadBalancers === false ? [] : options.loadBalancerAddresses;
  return {
    proxyMode,
    podRanges: clusterCidr,
    loadBalancerAddresses: addresses,
    ...(hostPorts !== undefined && { hostPorts }),
    ...(localhost === false && { localhost }),
    ...providersFrom(options),
    ...(registries !== undefined && { registriesFile: registries }),
    ...(ingress === false && { ingress }),
    ...(nodeLoopDevices === true && { opensLoops: true }),
    ...(nodeUserNamespaces === true && { hasUserNamespaces: true }),
  };
}

/** Each node gets a /24 of the IPv4 range, and a /64 of the IPv6 range if there is one. */
function podRanges(value: string): readonly string[] {
  const [v4, v6, ...more] = ranges(value);
  const isOfIpv4 = v4 !== undefined && v4.bytes.length === 4 && v4.prefixLength <= 24;
  const isOfIpv6 = v6 === undefined || (v6.bytes.length === 16 && v6.prefixLength >= 48 && v6.prefixLength <= 64);
  if (!isOfIpv4 || !isOfIpv6 || more.length > 0)
    throw new InvalidArgumentError(
      "It must be an IPv4 CIDR of at least 256 addresses, such as 10.244.0.0/16; an IPv6 CIDR with a prefix of 48 to 64 bits may follow, such as fd00:10:244::/56.",
    );
  return value.split(",");
}

/** As in kube-apiserver: one range, or one of each family. */
export function serviceRanges(value: string): readonly string[] {
  const all = ranges(value);
  const families = new Set(all.map(({ bytes }) => bytes.length));
  if (all.length > 2 || families.size < all.length || all.some(isTooSmall))
    throw new InvalidArgumentError(
      "It must be a CIDR such as 10.96.0.0/12, or an IPv4 and an IPv6 CIDR separated by a comma, of at least 16 addresses each.",
    );
  return value.split(",");
}

function isTooSmall({ bytes, prefixLength }: Cidr): boolean {
  return bytes.length * 8 - prefixLength < 4;
}

function ranges(value: string): readonly Cidr[] {
  return value.split(",").map((text) => {
    const cidr = parseCidr(text);
    if (cidr === undefined) throw new InvalidArgumentError(`${text} is not a CIDR.`);
    return cidr;
  });
}

function describesSimulated({ nodeCpu, nodeMemory, nodePods, nodeZones }: NodesFlagOptions): boolean {
  return [nodeCpu, nodeMemory, nodePods, nodeZones].some((flag) => flag !== undefined);
}

/** The remaining obstacle, as a sentence. */
export async function realNodesObstacle(
  options: RealNodesFlagOptions,
  terminal: Terminal,
  tools: Tools,
): Promise<string | undefined> {
  const missing = tools.missingPackages();
  if (missing.length > 0 && tools.canInstall()) {
    const command = tools.installCommand(missing);
    if (!options.yes && !(await agrees(command, terminal))) {
      return `Real nodes need ${missing.join(", ")}: use --yes, or install them with \`${command}\`.`;
    }
    terminal.say(`Installing ${missing.join(", ")} …`);
    await tools.installPackages(missing);
  }
  await installWanted(options, terminal, tools);
  const left = tools.obstacles();
  return left.length === 0 ? undefined : left.join(" ");
}

/** What nodes can do without: nobody is asked, and a failure is only said. */
async function installWanted({ yes }: RealNodesFlagOptions, { say }: Terminal, tools: Tools): Promise<void> {
  const wanted = tools.wantedHere();
  if (wanted.length === 0 || !yes || !tools.canInstall()) return;
  say(`Installing ${wanted.join(", ")} …`);
  await tools.installPackages(wanted).catch((error: unknown) => {
    if (!(error instanceof ClusterError)) throw error;
    say(`Going on without ${wanted.join(", ")}: ${tools.installCommand(wanted)} failed.`);
  });
}

async function agrees(command: string, { ask }: Terminal): Promise<boolean> {
  if (ask === undefined) return false;
  const answer = await ask(`Real nodes need some packages. Run \`${command}\` now? [Y/n] `);
  return /^(y(es)?)?$/i.test(answer.trim());
}

/**
 * Node processes live long and allocate little, so a small young generation is enough. A kubelet mostly waits, and is
 * as fast without the optimizing compiler, whose code takes a quarter of its memory. The proxy serves DNS and needs it.
 */
const KUBELET_FLAGS = ["--lite-mode", "--max-semi-space-size=1"];
const PROXY_FLAGS = ["--optimize-for-size", "--max-semi-space-size=1"];

/** The command of a node's processes: the bundle next to this program's entry. */
function agentCommand(flags: readonly string[]): string[] {
  const entry = process.argv[1];
  if (entry === undefined) throw new ClusterError("k8ts cannot find its own program file, which runs kubelets.");
  const agent = join(dirname(entry), `node-agent${extname(entry)}`);
  return [process.execPath, ...flags, ...process.execArgv, existsSync(agent) ? agent : entry];
}

export function ownTerminal(): Terminal {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  // Without a terminal nobody can answer, nor can the cluster behind --detach.
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env.CI !== undefined) return { say };
  return {
    say,
    ask: async (question) => {
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
  };
}
