/**
 * /exec, /attach, /portForward, and logs over WebSockets: from a request to streams of the runtime.
 *
 *     SPDY                           ──► forwarded to the runtime unchanged
 *     WebSocket, SPDY inside         ──► unpacked, then as above                    (kubectl port-forward)
 *     WebSocket with channels        ──► a stream to the runtime for each channel   (kubectl exec, attach)
 *     WebSocket, binary.k8s.io       ──► a log, message by message
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { createWebSocketStream } from "ws";
import type { core } from "#api";
import { joined } from "#base";
import { type Ask, isTrue, Refusal, text } from "../exchange.ts";
import { containerLog } from "../logs/container-logs.ts";
import { podOf, type Served } from "../served.ts";
import { logMessages } from "./log-messages.ts";
import { PORT_PROTOCOLS, portChannels } from "./port-channels.ts";
import { COMMAND_PROTOCOLS, remoteCommand, type WantedStreams } from "./remote-command.ts";
import { dialRuntime, namedProtocols, type RuntimeConnection, SPDY } from "./runtime-connection.ts";
import {
  type AcceptedSocket,
  acceptRaw,
  acceptWebSocket,
  chosenProtocol,
  decline,
  isWebSocket,
  type Upgrade,
} from "./upgrade.ts";
import { CHANNEL_PROTOCOLS } from "./web-socket-channels.ts";

const TUNNEL = "SPDY/3.1+";
const COMMANDS = CHANNEL_PROTOCOLS.map(({ name }) => name);
const PORTS = [`${TUNNEL}portforward.k8s.io`, "v4.channel.k8s.io", "v4.base64.channel.k8s.io"];
const LOGS = ["binary.k8s.io", "base64.binary.k8s.io"];
const MAX_SAID_BYTES = 50_000;

/** Resolves when the stream ends. Throws Refusal before the upgrade is accepted. */
export async function serveStream(served: Served, ask: Ask, upgrade: Upgrade): Promise<void> {
  const [, kind = ""] = ask.path.split("/");
  switch (kind) {
    case "exec":
    case "attach":
      return await command(served, ask, upgrade, kind);
    case "portForward":
      return await ports(served, ask, upgrade);
    case "containerLogs": {
      const protocol = chosenProtocol(upgrade, LOGS);
      const log = await containerLog(served, ask);
      return await logMessages(await acceptWebSocket(upgrade, protocol), log);
    }
    default:
      throw new Refusal(404, "404 page not found\n");
  }
}

async function command(served: Served, ask: Ask, upgrade: Upgrade, kind: "exec" | "attach"): Promise<void> {
  const { kubelet } = served;
  const { query, signal } = ask;
  const [namespace, podName, ...others] = ask.rest;
  const name = others.at(-1) ?? "";
  const wanted = wantedStreams(query);
  const pod = podOf(served, namespace, podName);
  const container = await kubelet.container(pod, name, { signal });
  if (container === undefined) throw new Refusal(404, `container not found (${JSON.stringify(name)})`);
  const request = { containerId: container.id, ...wanted };
  const url = await answered(
    kind === "exec"
      ? kubelet.runtime.exec({ ...request, command: query.getAll("command") }, signal)
      : kubelet.runtime.attach({ ...request, tty: hasTty(pod, name) }, signal),
  );
  if (!isWebSocket(upgrade)) return await passOn(url, ask, upgrade);
  const protocol = chosenProtocol(upgrade, COMMANDS);
  const connection = await connected(dialRuntime(url, COMMAND_PROTOCOLS, signal));
  await remoteCommand(await accepted(upgrade, protocol, connection), connection, wanted);
}

async function ports(served: Served, ask: Ask, upgrade: Upgrade): Promise<void> {
  const { kubelet } = served;
  const [namespace, podName] = ask.rest;
  const { uid = "" } = podOf(served, namespace, podName).metadata;
  const wanted = ask.query.getAll("port").flatMap((each) => each.split(",").map(portNumber));
  const sandboxes = await kubelet.runtime.listPodSandboxes({ labels: { "io.kubernetes.pod.uid": uid } }, ask.signal);
  const sandbox = sandboxes.find(({ state }) => state === "ready");
  if (sandbox === undefined) throw new Refusal(404, `not running ("${podName}_${namespace}")`);
  const url = await answered(kubelet.runtime.portForward(sandbox.id, wanted, ask.signal));
  if (!isWebSocket(upgrade)) return await passOn(url, ask, upgrade);
  const protocol = chosenProtocol(upgrade, PORTS);
  const isTunnel = protocol?.startsWith(TUNNEL) === true;
  if (!isTunnel && wanted.length === 0) throw new Refusal(400, 'query parameter "port" is required');
  const connection = await connected(dialRuntime(url, PORT_PROTOCOLS, ask.signal));
  const caller = await accepted(upgrade, protocol, connection);
  await (isTunnel
    ? joined(createWebSocketStream(caller.socket), connection)
    : portChannels(caller, connection, wanted));
}

/** Connects the client with the runtime. */
async function passOn(url: string, { headers, signal }: Ask, upgrade: Upgrade): Promise<void> {
  if (headers.upgrade?.toLowerCase() !== SPDY.toLowerCase())
    throw new Refusal(400, `unable to upgrade: ${JSON.stringify(headers.upgrade ?? "")} is not served`);
  const { response, connection } = await dialRuntime(url, namedProtocols(headers), signal);
  if (connection === undefined) return decline(upgrade, text(response.statusCode ?? 502, await bodyText(response)));
  const { connection: word, upgrade: protocol, "x-stream-protocol-version": version } = response.headers;
  acceptRaw(upgrade, { connection: word, upgrade: protocol, "x-stream-protocol-version": version?.toString() });
  await joined(upgrade.socket, connection);
}

export function wantedStreams(query: URLSearchParams): WantedStreams {
  const tty = isTrue(query.get("tty"));
  const [stdin, stdout] = [isTrue(query.get("input")), isTrue(query.get("output"))];
  // A TTY has one output: stdout and stderr are the same.
  const stderr = !tty && isTrue(query.get("error"));
  if (!stdin && !stdout && !stderr) throw new Refusal(400, "you must specify at least 1 of stdin, stdout, stderr");
  return { stdin, stdout, stderr, tty };
}

function hasTty({ spec }: core.Pod, name: string): boolean {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers].find((each) => each.name === name)?.tty === true;
}

function portNumber(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port < 1 || port > 65_535)
    throw new Refusal(400, `${JSON.stringify(value)} is not a port`);
  return port;
}

/** A refusal of the runtime is passed on to the client. */
async function answered(asking: Promise<string>): Promise<string> {
  try {
    return await asking;
  } catch (error) {
    throw new Refusal(500, (error as Error).message, { cause: error });
  }
}

/** Closes the runtime's side when the client disconnects. */
async function accepted(upgrade: Upgrade, protocol: string | undefined, connection: Duplex): Promise<AcceptedSocket> {
  try {
    return await acceptWebSocket(upgrade, protocol);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function connected(dialing: Promise<RuntimeConnection>): Promise<Duplex> {
  const { response, connection } = await dialing;
  if (connection === undefined) throw new Refusal(response.statusCode ?? 502, await bodyText(response));
  return connection;
}

async function bodyText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_SAID_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}
