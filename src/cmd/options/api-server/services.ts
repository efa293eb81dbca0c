/** Flags about Services, with kube-apiserver's names, bounds and messages. */
import { InvalidArgumentError, Option } from "commander";
import { RECONCILER_TYPES, type ServiceSettings } from "#apiserver";
import { ClusterError } from "#cluster";
import { integer } from "../values.ts";

type PortRange = NonNullable<ServiceSettings["nodePorts"]>;

const DEFAULT_RANGE: PortRange = { first: 30_000, last: 32_767 };
const MAX_PORT = 65_535;

export interface ServiceFlagOptions {
  readonly serviceNodePortRange?: PortRange;
  readonly kubernetesServiceNodePort?: number;
  readonly endpointReconcilerType?: string;
  readonly apiserverCount?: number;
}

export function nodePortRangeOption(): Option {
  return new Option(
    "--service-node-port-range <range>",
    "ports of Services on nodes, such as 30000-32767 or 30000+2767 (default: 30000-32767)",
  ).argParser(portRange);
}

export function serviceOptions(): readonly Option[] {
  return [
    nodePortRangeOption(),
    new Option(
      "--kubernetes-service-node-port <port>",
      "port of the Service kubernetes on nodes; 0: it has none (default: 0)",
    ).argParser(integer),
    new Option(
      "--endpoint-reconciler-type <type>",
      `which servers are the endpoints of the Service kubernetes: ${RECONCILER_TYPES.join(", ")} (default: lease)`,
    ),
    new Option("--apiserver-count <n>", "number of API servers, for master-count (default: 1)").argParser(integer),
  ];
}

export function servicesFrom(options: ServiceFlagOptions): ServiceSettings {
  const { serviceNodePortRange = DEFAULT_RANGE, kubernetesServiceNodePort: port = 0, apiserverCount = 1 } = options;
  const { first, last } = serviceNodePortRange;
  if (port < 0 || port > MAX_PORT) {
    throw new ClusterError(
      `--kubernetes-service-node-port ${port} must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP`,
    );
  }
  if (port > 0 && (port < first || port > last))
    throw new ClusterError(`kubernetes service port range ${first}-${last} doesn't contain ${port}`);
  if (apiserverCount <= 0)
    throw new ClusterError(`--apiserver-count should be a positive number, but value '${apiserverCount}' provided`);
  return {
    nodePorts: serviceNodePortRange,
    kubernetesNodePort: port,
    endpointReconciler: reconcilerOf(options),
    serverCount: apiserverCount,
  };
}

function reconcilerOf({ endpointReconcilerType: asked = "lease" }: ServiceFlagOptions) {
  const known = RECONCILER_TYPES.find((type) => type === asked);
  if (known === undefined) throw new ClusterError(`endpoint reconciler not implemented: ${asked}`);
  return known;
}

/** `first-last`, `first+more` or one port. An empty range is the default one. */
function portRange(text: string): PortRange {
  const value = text.trim();
  if (value === "") return DEFAULT_RANGE;
  if (value.includes("-") && value.includes("+"))
    throw new InvalidArgumentError(`unable to parse port range: ${value}`);
  const [low = "", high = low] = value.split(/[-+](.*)/s);
  const [first, second] = [numberIn(low), numberIn(high)];
  const last = value.includes("+") ? first + second : second;
  if (first > MAX_PORT || last > MAX_PORT)
    throw new InvalidArgumentError(`the port range cannot be greater than 65535: ${value}`);
  if (last < first) throw new InvalidArgumentError(`end port cannot be less than start port: ${value}`);
  return { first, last };
}

function numberIn(text: string): number {
  if (!/^\d+$/.test(text))
    throw new InvalidArgumentError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
