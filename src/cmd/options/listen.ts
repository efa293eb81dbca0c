/** Flags about the addresses at which other machines reach the API server, and who joins as what. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { InvalidArgumentError, Option } from "commander";
import { ClusterError, type DataDir, type ListenConfig, nodeTools } from "#cluster";
import type { RealNodesFlagOptions } from "./real-nodes.ts";

export interface ListenFlag {
  readonly address: string;
  readonly port: number | undefined;
}

export interface ListenOptions {
  readonly listen?: ListenFlag;
  readonly tlsSan?: readonly string[];
  readonly nodeName?: string;
  /** Empty: none. */
  readonly virtualAddress?: string;
}

export function listenOptions(): readonly Option[] {
  return [
    new Option(
      "--listen <address[:port]>",
      "address of this machine at which others join the cluster; this machine is then one node, with its own network",
    ).argParser(listenFlag),
    new Option(
      "--tls-san <names>",
      "more names and addresses in the API server's certificate; repeat for more",
    ).argParser(sans),
    new Option(
      "--virtual-address <ip>",
      "with --listen: an address for clients outside, on the machine of one healthy API server at a time; `none` drops it",
    ).argParser(virtualAddress),
    new Option("--node-name <name>", "with --listen: the name of this machine's node (default: the host name)"),
  ];
}

/** `address`, `address:port`, `[v6]`, `[v6]:port`. */
export function listenFlag(value: string): ListenFlag {
  const bracketed = /^\[([\da-fA-F:.]+)\](?::(\d+))?$/.exec(value);
  const plain = /^([\d.]+)(?::(\d+))?$/.exec(value) ?? [value, value];
  const [, address = "", port] = bracketed ?? plain;
  if (isIP(address) === 0 || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0)
    throw new InvalidArgumentError("It must be an IP address of this machine, and a port if you want: 192.0.2.1:6443.");
  if (address === "0.0.0.0" || address === "::" || address.startsWith("127.") || address === "::1")
    throw new InvalidArgumentError("Other machines must reach it: name one address of this machine.");
  return { address, port: port === undefined ? undefined : Number(port) };
}

function virtualAddress(value: string): string {
  if (value === "none") return "";
  if (isIP(value) === 0 || value === "0.0.0.0" || value === "::" || value.startsWith("127.") || value === "::1")
    throw new InvalidArgumentError("It must be a free IP address of the machines' network, or `none`.");
  return value;
}

const DNS_NAME = /^(\*\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)*[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function sans(value: string, before: readonly string[] = []): readonly string[] {
  const names = value.split(",").map((each) => each.trim().toLowerCase());
  const wrong = names.find((name) => isIP(name) === 0 && !(name.length <= 253 && DNS_NAME.test(name)));
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is no DNS name and no IP address.`);
  return [...before, ...names];
}

/** The flags, else what the last start had. */
export function listenFrom(
  {
    listen,
    virtualAddress,
    clusterCidr,
    proxyMode,
  }: ListenOptions & Pick<RealNodesFlagOptions, "clusterCidr" | "proxyMode">,
  before: ListenConfig | undefined,
): ListenConfig | undefined {
  const address = listen?.address ?? before?.address;
  if (address === undefined) return undefined;
  const [podRanges, mode] = [clusterCidr ?? before?.podRanges, proxyMode ?? before?.proxyMode];
  const virtual = virtualAddress ?? before?.virtualAddress ?? "";
  if (virtual === address) throw new ClusterError("--virtual-address must be another address than that of --listen.");
  return {
    address,
    ...(virtual !== "" && { virtualAddress: virtual }),
    ...(podRanges && { podRanges }),
    ...(mode && { proxyMode: mode }),
  };
}

/** The node that this machine is since an earlier start. */
export async function machineNode({ path }: DataDir): Promise<string | undefined> {
  const { listNodes, siteNames } = await nodeTools();
  return (await listNodes(siteNames(path))).find(({ spec }) => spec.onMachine === true)?.names.name;
}

/** A node's name: what is given, else that of the machine. */
export async function machineNodeName(given: string | undefined): Promise<string> {
  const { nodeNameProblem } = await nodeTools();
  const name = given ?? hostname().split(".")[0]?.toLowerCase() ?? "";
  const problem = nodeNameProblem(name);
  if (problem === undefined) return name;
  throw new ClusterError(given === undefined ? `${problem} It is the name of this machine: choose another.` : problem);
}
