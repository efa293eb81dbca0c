/** Runs one probe of one container: whether it succeeded, and the output for the event if not. */
import type { core } from "#api";
import { type Clock, isAbort } from "#base";
import { type Runtime, RuntimeError } from "../runtime/runtime.ts";
import { type ContainerNetwork, type HttpQuestion, urlOf } from "./network-probes.ts";

export interface ProbeOutcome {
  /** Undefined if unknown: the runtime did not answer, or could not run the command. */
  readonly ok: boolean | undefined;
  readonly output: string;
  /** It succeeded, but its user should know of something. */
  readonly isWarning?: boolean;
}

export interface ProbeTarget {
  readonly containerId: string;
  readonly container: Pick<core.Container, "ports">;
  readonly podIp: string;
}

export interface ProbeMeans {
  readonly runtime: Pick<Runtime, "execSync">;
  readonly network: ContainerNetwork;
  readonly clock: Clock;
}

const SERVING = 1;
const HEALTH_WORDS = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const MAX_OUTPUT = 10 * 1024;

export async function runProbe(
  means: ProbeMeans,
  probe: core.Probe,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  const expired = new AbortController();
  const timer = means.clock.timer(timeoutMs, () => expired.abort());
  const either = AbortSignal.any([signal, expired.signal]);
  try {
    return await ask(means, probe, target, timeoutMs, either);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const isUnknown = error instanceof RuntimeError && error.code !== "DeadlineExceeded" && !expired.signal.aborted;
    if (isUnknown) return { ok: undefined, output: error.message };
    return { ok: false, output: expired.signal.aborted ? timeoutWords(probe, target, timeoutMs) : failureWords(error) };
  } finally {
    timer.cancel();
  }
}

async function ask(
  { runtime, network }: ProbeMeans,
  { exec, httpGet, tcpSocket, grpc }: core.Probe,
  { containerId, container, podIp }: ProbeTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  if (exec !== undefined) {
    const { exitCode, stdout, stderr } = await runtime.execSync(containerId, exec.command ?? [], timeoutMs, signal);
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT).toString();
    return { ok: exitCode === 0, output };
  }
  if (httpGet !== undefined) {
    const question = httpQuestion(httpGet, container, podIp);
    try {
      const { status, body } = await network.httpGet(question, signal);
      if (status >= 300 && status < 400)
        return { ok: true, isWarning: true, output: `Probe terminated redirects, Response body: ${body}` };
      return { ok: status >= 200 && status < 400, output: `HTTP probe failed with statuscode: ${status}` };
    } catch (error) {
      if (signal.aborted) throw error;
      return { ok: false, output: `Get "${urlOf(question)}": ${failureWords(error)}` };
    }
  }
  if (tcpSocket !== undefined) {
    const host = tcpSocket.host === undefined || tcpSocket.host === "" ? podIp : tcpSocket.host;
    await network.tcpConnect(host, portNumber(tcpSocket.port, container), signal);
    return { ok: true, output: "" };
  }
  if (grpc !== undefined) {
    const status = await network.grpcHealth(podIp, grpc.port, grpc.service ?? "", signal);
    return { ok: status === SERVING, output: `service unhealthy (responded with "${HEALTH_WORDS[status] ?? status}")` };
  }
  return { ok: true, output: "" };
}

export function httpQuestion(
  { scheme = "HTTP", host, path = "", port, httpHeaders = [] }: core.HTTPGetAction,
  container: Pick<core.Container, "ports">,
  podIp: string,
): HttpQuestion {
  return {
    scheme,
    host: host === undefined || host === "" ? podIp : host,
    port: portNumber(port, container),
    path,
    headers: httpHeaders,
  };
}

/** A port by its number or its name. */
export function portNumber(port: number | string, { ports = [] }: Pick<core.Container, "ports">): number {
  const number = Number(port);
  if (Number.isInteger(number) && number > 0) return number;
  const named = ports.find(({ name }) => name === port);
  if (named === undefined) throw new Error(`couldn't find port: ${port}`);
  return named.containerPort;
}

function timeoutWords(
  { exec, httpGet, grpc }: core.Probe,
  { container, podIp }: ProbeTarget,
  timeoutMs: number,
): string {
  if (exec !== undefined)
    return `command timed out: "${(exec.command ?? []).join(" ")}" timed out after ${timeoutMs / 1000}s`;
  if (httpGet !== undefined) {
    const url = urlOf(httpQuestion(httpGet, container, podIp));
    return `Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
  }
  if (grpc !== undefined) return `timeout: health rpc did not complete within ${timeoutMs / 1000}s`;
  return "dial tcp: i/o timeout";
}

function failureWords(error: unknown): string {
  if (error instanceof RuntimeError && error.code === "DeadlineExceeded") return `command timed out: ${error.message}`;
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const where = address === undefined ? "" : ` ${address}:${port}`;
  if (code === "ECONNREFUSED") return `dial tcp${where}: connect: connection refused`;
  if (code === "EHOSTUNREACH") return `dial tcp${where}: connect: no route to host`;
  return error instanceof Error ? error.message : String(error);
}
