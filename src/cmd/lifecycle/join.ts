/** `k8ts join`: makes this machine a node of a cluster whose control plane is elsewhere. */
import { isIP } from "node:net";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  ClusterError,
  type DataDir,
  isCaHash,
  type JoinRequest,
  parseToken,
  readJoinRecord,
  readStoreRecord,
} from "#cluster";
import { taints } from "../components/kubelet.ts";
import { pairs } from "../components/kubelet-flags.ts";
import { machineNodeName } from "../options/listen.ts";
import { outsideOptions } from "../options/outside.ts";
import { nodeMountOption } from "../options/real-nodes.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { runControlPlane } from "./control-plane.ts";
import { runDetached } from "./detach.ts";
import { type MachineOptions, runMachine } from "./run-machine.ts";
import { ownSystemd, underSystemd } from "./systemd.ts";

const DEFAULT_PORT = 6443;

interface JoinOptions extends MachineOptions, DataDirOption {
  readonly token?: string;
  readonly caHash?: string;
  readonly name?: string;
  readonly nodeIp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: JoinRequest["taints"];
  readonly controlPlane?: boolean;
  readonly certificateKey?: string;
  readonly nodes?: "0" | "1";
  readonly detach?: boolean;
  readonly systemd?: "install" | "remove";
}

export function joinCommand(): Command {
  const command = new Command("join")
    .description("make this machine a node of a cluster that `k8ts up --listen` started on another")
    .argument("<address>", "address of the API server, with its port unless that is 6443", endpoint)
    .addOption(new Option("--token <token>", "bootstrap token; not needed again").argParser(token))
    .addOption(new Option("--ca-hash <hash>", "hash of the cluster's authority: sha256:…").argParser(hash))
    .option("--name <name>", "name of the node (default: the host name, or that of the last start)")
    .addOption(
      new Option("--node-ip <ip>", "address of the node (default: the one that the API server sees)").argParser(
        address,
      ),
    )
    .addOption(new Option("--labels <labels>", "labels for the Node, such as a=b,c=d").argParser(pairs("=")))
    .addOption(new Option("--taints <taints>", "taints for the Node, such as key=value:NoSchedule").argParser(taints))
    .addOption(dataDirOption())
    .addOption(nodeMountOption("of this machine's node"))
    .option("--node-loop-devices", "privileged Pods of this node may open all loop devices of this machine")
    .option("--yes", "install the packages that nodes need (containerd, runc, …) without asking")
    .option("--control-plane", "make this machine a control plane, with a member of etcd; it is a node as well")
    .addOption(
      new Option("--certificate-key <key>", "with --control-plane: what `k8ts upload-certs` printed").argParser(
        certificateKey,
      ),
    )
    .addOption(
      new Option("--nodes <number>", "with --control-plane: 0 makes this machine no node (default: 1)").choices([
        "0",
        "1",
      ]),
    )
    .option("--detach", "run in the background; return when the node is ready")
    .addOption(
      new Option("--systemd [remove]", "install a systemd unit that goes on with it at every boot; `remove` removes it")
        .choices(["install", "remove"])
        .preset("install"),
    )
    .action(async (address: string, options: JoinOptions) => {
      const dir = dataDirOf(options);
      if (options.systemd === "remove") return underSystemd(dir, "remove");
      if ((options.controlPlane === true) !== (options.certificateKey !== undefined))
        throw new ClusterError("--control-plane and --certificate-key belong together: give both or none.");
      if (options.controlPlane !== true && options.nodes !== undefined)
        throw new ClusterError("--nodes belongs to --control-plane: without it, this machine joins as a node.");
      if (options.controlPlane === true && (options.labels !== undefined || options.taints !== undefined))
        throw new ClusterError(
          "--labels and --taints are for machines that are nodes only: `kubectl label` and `kubectl taint` set those of a control plane.",
        );
      if (options.systemd === "install") return installed(dir);
      if (options.certificateKey !== undefined) {
        if (options.detach) return runDetached(dir);
        return runControlPlane(dir, { ...options, endpoint: address, certificateKey: options.certificateKey });
      }
      const known = await readJoinRecord(dir);
      const { token: given, caHash, nodeIp, labels = known?.labels ?? {} } = options;
      const nodeName = options.name ?? known?.nodeName ?? (await machineNodeName(undefined));
      await machineNodeName(nodeName);
      const set = options.taints ?? known?.taints ?? [];
      const request = { endpoint: address, token: given, caHash, nodeName, nodeIp, labels, taints: set };
      if (options.detach) await runDetached(dir);
      else await runMachine(dir, options, request);
    });
  for (const option of outsideOptions().filter(({ long }) => long === "--outside" || long === "--no-outside"))
    command.addOption(option);
  return command;
}

/** The unit has no token: the machine joins before it, and the unit goes on from there. */
async function installed(dir: DataDir): Promise<void> {
  ownSystemd();
  const hasJoined = (await readJoinRecord(dir)) !== undefined || (await readStoreRecord(dir)) !== undefined;
  if (!hasJoined) await runDetached(dir);
  await underSystemd(dir, "install", ["up", "--data-dir", dir.path]);
}

/** `host`, `host:port`, `[v6]:port`; a URL's scheme is left out. */
export function endpoint(value: string): string {
  const plain = value.replace(/^https:\/\//, "").replace(/\/$/, "");
  const host = isIP(plain) === 6 ? `[${plain}]` : plain;
  const url = URL.parse(`https://${host}`);
  if (url === null || url.host === "" || url.pathname !== "/" || url.username !== "" || url.search !== "")
    throw new InvalidArgumentError("It must be an address such as 192.0.2.1 or 192.0.2.1:6443.");
  // The URL drops the port 443, as it is that of its scheme.
  const port = /:(\d+)$/.exec(host.replace(/\[.*\]/, ""))?.[1] ?? String(DEFAULT_PORT);
  return `${url.hostname}:${port}`;
}

function token(value: string): string {
  if (parseToken(value) === undefined)
    throw new InvalidArgumentError("It must be of the form abcdef.0123456789abcdef.");
  return value;
}

function certificateKey(value: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw new InvalidArgumentError("It must be 64 hexadecimal digits.");
  return value;
}

function hash(value: string): string {
  if (!isCaHash(value)) throw new InvalidArgumentError("It must be sha256: and 64 hexadecimal digits.");
  return value;
}

function address(value: string): string {
  if (isIP(value) === 0) throw new InvalidArgumentError("It must be an IP address of this machine.");
  return value;
}
