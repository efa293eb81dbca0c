/**
 * `k8ts up --config FILE`: a file of the kind Cluster (k8ts.dev/v1alpha1), as flags and settings of `up`.
 *
 *     file ──► fields (strict) ──► rules ──► flags of up, nodes, manifests, charts
 *
 * 1. What a flag of `up` says is the flag's: the file gives its value, and the same checks apply. A flag on the command
 *    line that the file sets, too, is a contradiction and refused.
 * 2. Paths in the file start at its folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { checkDns1123Label, parseQuantity } from "#api";
import { ClusterError, clusterNameProblem, type InitialObjects, type NodeOwn, nodeTools } from "#cluster";
import { parseKubeletConfiguration } from "#kubelet";
import { problemsIn } from "./fields.ts";

export interface ClusterFile {
  readonly name: string | undefined;
  /** Undefined: as the machine can. */
  readonly kind: "real" | "simulated" | undefined;
  readonly nodes: readonly NodeOwn[] | undefined;
  /** Flags of `up`, as words of a command line. */
  readonly flags: readonly string[];
  readonly initial: InitialObjects;
}

interface Document {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly nodes?: readonly FileNode[];
  readonly networking?: Readonly<Record<string, string | number>>;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly runtimeConfig?: Readonly<Record<string, string>>;
  readonly store?: string;
  readonly outside?: boolean;
  readonly registries?: string;
  readonly manifests?: readonly string[];
  readonly charts?: readonly {
    readonly name?: string;
    readonly chart?: string;
    readonly namespace?: string;
    readonly values?: object;
  }[];
}

interface FileNode {
  readonly name?: string;
  readonly kind?: string;
  readonly role?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key?: string; readonly value?: string; readonly effect?: string }[];
  readonly cpu?: string;
  readonly memory?: string;
  readonly pods?: number;
  readonly extraMounts?: readonly {
    readonly hostPath?: string;
    readonly containerPath?: string;
    readonly readOnly?: boolean;
  }[];
  readonly extraPortMappings?: readonly unknown[];
  readonly kubelet?: Readonly<Record<string, unknown>>;
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;
const KINDS = ["real", "simulated"];
/** Of a KubeletConfiguration: what the cluster gives every node. */
const OF_THE_CLUSTER = [
  "clusterDNS",
  "clusterDomain",
  "cgroupRoot",
  "staticPodPath",
  "containerRuntimeEndpoint",
  "port",
  "registerWithTaints",
  "podLogsDir",
];
/** Networking, as flags of `up`. */
const NETWORKING: readonly (readonly [field: string, flag: string])[] = [
  ["apiServerAddress", "--bind-address"],
  ["apiServerPort", "--port"],
  ["podSubnet", "--cluster-cidr"],
  ["serviceSubnet", "--service-cluster-ip-range"],
  ["kubeProxyMode", "--proxy-mode"],
];

/** Throws ClusterError with all that is wrong. */
export async function readClusterFile(file: string): Promise<ClusterFile> {
  const document = documentIn(file);
  const problems: string[] = [...(await problemsWith(document, dirname(resolve(file))))];
  if (problems.length > 0) throw new ClusterError(`--config ${file}: ${problems.join("; ")}.`);
  const { name, nodes, networking = {}, featureGates, runtimeConfig, store, outside, registries } = document;
  const pairs = (map: object) =>
    Object.entries(map)
      .map(([key, value]) => `${key}=${String(value)}`)
      .join();
  return {
    name,
    kind: nodes?.find(({ kind }) => kind !== undefined)?.kind as ClusterFile["kind"],
    nodes: nodes?.map((node, at) => ownOf(node, nameOf(node, at), dirname(resolve(file)))),
    flags: [
      ...NETWORKING.flatMap(([field, flag]) =>
        networking[field] === undefined ? [] : [`${flag}=${networking[field]}`],
      ),
      ...(featureGates === undefined ? [] : [`--feature-gates=${pairs(featureGates)}`]),
      ...(runtimeConfig === undefined ? [] : [`--runtime-config=${pairs(runtimeConfig)}`]),
      ...(store === undefined ? [] : [`--store=${store}`]),
      ...(outside === undefined ? [] : [outside ? "--outside" : "--no-outside"]),
      ...(registries === undefined ? [] : [`--registries=${resolve(dirname(resolve(file)), registries)}`]),
    ],
    initial: initialOf(document, dirname(resolve(file))),
  };
}

function documentIn(file: string): Document {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ClusterError(`--config ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  try {
    const document: unknown = parse(text);
    const [first, ...more] = problemsIn(document);
    if (first === undefined) return (document ?? {}) as Document;
    throw new Error(["strict decoding error", [first, ...more].join(", ")].join(": "));
  } catch (error) {
    throw new ClusterError(`--config ${file}: ${(error as Error).message.split("\n")[0]}.`, { cause: error });
  }
}

async function problemsWith(document: Document, folder: string): Promise<readonly string[]> {
  const { apiVersion, kind, name, nodes = [], store, registries, manifests = [], charts = [] } = document;
  const kinds = new Set(nodes.flatMap((node) => node.kind ?? []));
  const names = nodes.map(nameOf);
  const { nodeNameProblem } = await nodeTools();
  return [
    ...(apiVersion === "k8ts.dev/v1alpha1" ? [] : ["apiVersion: must be k8ts.dev/v1alpha1"]),
    ...(kind === "Cluster" ? [] : ["kind: must be Cluster"]),
    ...(name === undefined
      ? []
      : (clusterNameProblem(name) ?? "")
          .split("\n")
          .filter(Boolean)
          .map((why) => `name: ${why.replace(/\.$/, "")}`)),
    ...(kinds.size > 1 ? ["nodes: all nodes of a cluster are of one kind, real or simulated"] : []),
    ...(store === undefined || store === "embedded" || store === "memory" ? [] : ["store: must be embedded or memory"]),
    ...nodes.flatMap((node, at) => {
      const own = names[at] ?? "";
      const problem = nodeNameProblem(own) ?? (names.indexOf(own) < at ? `${own} is there twice.` : undefined);
      const all = [
        ...(problem === undefined ? [] : [`name: ${problem.replace(/\.$/, "")}`]),
        ...nodeProblems(node, folder),
      ];
      return all.map((each) => `nodes[${at}].${each}`);
    }),
    ...(registries === undefined || existsSync(resolve(folder, registries))
      ? []
      : [`registries: ${registries} does not exist`]),
    ...manifests.flatMap((path, at) =>
      existsSync(resolve(folder, path)) ? [] : [`manifests[${at}]: ${path} does not exist`],
    ),
    ...charts.flatMap(({ name: release, chart }, at) => [
      ...(release === undefined ? [`charts[${at}].name: is required`] : []),
      ...(chart === undefined ? [`charts[${at}].chart: is required`] : []),
      ...(chart === undefined || existsSync(resolve(folder, chart))
        ? []
        : [`charts[${at}].chart: ${chart} does not exist: name a local folder or archive`]),
    ]),
  ];
}

function nodeProblems(node: FileNode, folder: string): readonly string[] {
  const { kind, role, taints = [], cpu, memory, pods, extraMounts = [], extraPortMappings, kubelet } = node;
  const isReal = kind === "real";
  const only = (field: string, value: unknown, which: string, isWrong: boolean) =>
    value !== undefined && isWrong ? [`${field}: only ${which} nodes have it: say kind: ${which}`] : [];
  return [
    ...(kind === undefined || KINDS.includes(kind) ? [] : ["kind: must be real or simulated"]),
    ...(role === undefined || checkDns1123Label(role).length === 0 ? [] : ["role: must be a word such as worker"]),
    ...taints.flatMap(({ key, effect }, at) => [
      ...(key === undefined ? [`taints[${at}].key: is required`] : []),
      ...(EFFECTS.some((each) => each === effect) ? [] : [`taints[${at}].effect: must be ${EFFECTS.join(", ")}`]),
    ]),
    ...only("cpu", cpu, "simulated", kind !== "simulated"),
    ...only("memory", memory, "simulated", kind !== "simulated"),
    ...only("pods", pods, "simulated", kind !== "simulated"),
    ...only("extraMounts", node.extraMounts, "real", !isReal),
    ...only("kubelet", kubelet, "real", !isReal),
    ...[cpu, memory].flatMap((amount) =>
      amount === undefined || isAmount(amount) ? [] : [`${amount}: is not an amount such as 8 or 32Gi`],
    ),
    ...extraMounts.flatMap(({ hostPath, containerPath }, at) => [
      ...(hostPath === undefined || containerPath === undefined
        ? [`extraMounts[${at}]: hostPath and containerPath are required`]
        : []),
      ...(hostPath === undefined || existsSync(resolve(folder, hostPath))
        ? []
        : [`extraMounts[${at}].hostPath: ${hostPath} does not exist`]),
    ]),
    ...(extraPortMappings === undefined
      ? []
      : [
          "extraPortMappings: nodes publish no ports: publish Services, with `k8ts publish` or up --publish 8080:web/80",
        ]),
    ...(kubelet === undefined ? [] : kubeletProblems(kubelet)),
  ];
}

function kubeletProblems(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const own = Object.keys(fields).filter((name) => OF_THE_CLUSTER.includes(name));
  if (own.length > 0) return own.map((name) => `kubelet.${name}: the cluster sets it for every node`);
  try {
    const { ignored } = parseKubeletConfiguration(JSON.stringify(configurationOf(fields)));
    return ignored.map((name) => `kubelet.${name}: has no effect in this kubelet`);
  } catch (error) {
    return [`kubelet.${(error as Error).message.replace(/\.$/, "")}`];
  }
}

function configurationOf(fields: object): object {
  return { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", ...fields };
}

function isAmount(text: string): boolean {
  try {
    return parseQuantity(text).unscaled > 0n;
  } catch {
    return false;
  }
}

function nameOf({ name }: FileNode, at: number): string {
  return name ?? `node-${at + 1}`;
}

function ownOf(node: FileNode, name: string, folder: string): NodeOwn {
  const { role, labels, taints, cpu, memory, pods, extraMounts, kubelet } = node;
  return {
    name,
    role,
    labels,
    taints: taints?.map(({ key = "", value, effect }) => ({
      key,
      ...(value !== undefined && { value }),
      effect: effect as (typeof EFFECTS)[number],
    })),
    cpu,
    memory,
    pods,
    mounts: extraMounts?.map(({ hostPath = "", containerPath = "", readOnly = false }) =>
      [resolve(folder, hostPath), containerPath, readOnly ? "ro" : "rw"].join(":"),
    ),
    kubelet: kubelet === undefined ? undefined : configurationOf(kubelet),
  };
}

function initialOf({ manifests = [], charts = [] }: Document, folder: string): InitialObjects {
  return {
    manifests: manifests.map((path) => resolve(folder, path)),
    charts: charts.map(({ name = "", chart = "", namespace = "default", values }) => ({
      name,
      chart: resolve(folder, chart),
      namespace,
      values,
    })),
  };
}
