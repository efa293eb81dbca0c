/**
 * How a machine that knows an address, a token and the hash of the cluster's authority comes to trust the cluster:
 *
 *     cluster-info, without credentials and unverified ──► signature by the token ──► authority's hash ──► authority
 *         ──► cluster-info again, verified by the authority: it has to be the same
 *
 * 1. Nothing of an unverified answer is used before both the signature and the hash are right.
 * 2. Nothing is written.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { parseYaml } from "#api";
import type { Clock } from "#base";
import { ClusterError } from "../config/errors.ts";
import { caHash } from "./ca-hash.ts";
import { parseToken } from "./tokens.ts";

const PATH = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const TIMEOUT_MS = 10_000;
/** The signer signs a moment after a token is made. */
const SIGNED_MS = 3_000;
const POLL_MS = 250;
const LARGEST = 1_000_000;

export interface Discovery {
  /** `host:port`. */
  readonly endpoint: string;
  readonly token: string;
  readonly caHash: string;
  readonly clock: Clock;
}

export interface Discovered {
  readonly caPem: string;
  /** The API server's address as the cluster says it. */
  readonly server: string;
}

/** Throws ClusterError: what is wrong, and what to do. */
export async function discoverCluster({ endpoint, token, caHash: pin, clock }: Discovery): Promise<Discovered> {
  const unverified = await signedInfo(endpoint, token, clock);
  const found = readInfo(unverified, endpoint);
  const actual = caHash(found.caPem);
  if (actual !== pin)
    throw new ClusterError(
      `The cluster at ${endpoint} has another authority: its hash is ${actual}, not ${pin}. Compare it with what \`k8ts token create --print-join-command\` prints there: if it differs, somebody else answers.`,
    );
  const again = await infoOf(endpoint, found.caPem, clock);
  if (again?.kubeconfig !== unverified)
    throw new ClusterError(`The API server at ${endpoint} changed its answer: somebody may stand between. Try again.`);
  return found;
}

/** The kubeconfig in cluster-info, signed by the token. */
async function signedInfo(endpoint: string, token: string, clock: Clock): Promise<string> {
  const parsed = parseToken(token);
  if (parsed === undefined) throw new ClusterError("--token must be of the form abcdef.0123456789abcdef.");
  const deadline = clock.monotonic() + SIGNED_MS;
  for (;;) {
    const data = await infoOf(endpoint, undefined, clock);
    const kubeconfig = data?.kubeconfig;
    if (kubeconfig === undefined)
      throw new ClusterError(
        `The cluster at ${endpoint} has no cluster-info: start its control plane with \`k8ts up --listen ADDRESS\`.`,
      );
    const signature = data?.[`jws-kubeconfig-${parsed.id}`];
    if (signature !== undefined) {
      if (isSigned(kubeconfig, signature, parsed.secret)) return kubeconfig;
      throw new ClusterError(
        `The cluster at ${endpoint} knows the token ${parsed.id}, but with another secret: it is wrong, or somebody else answers.`,
      );
    }
    if (clock.monotonic() >= deadline)
      throw new ClusterError(
        `The cluster at ${endpoint} does not know the token ${parsed.id}: it may have expired. Make another on the control plane: \`k8ts token create --print-join-command\`.`,
      );
    await clock.sleep(POLL_MS);
  }
}

/** A detached JSON Web Signature, HS256. Pure. */
export function isSigned(content: string, signature: string, secret: string): boolean {
  const [header = "", between, given = ""] = signature.split(".");
  if (between !== "" || algorithmOf(header) !== "HS256") return false;
  const payload = Buffer.from(content).toString("base64url");
  const wanted = createHmac("sha256", secret).update(`${header}.${payload}`).digest();
  const actual = Buffer.from(given, "base64url");
  return actual.length === wanted.length && timingSafeEqual(actual, wanted);
}

function algorithmOf(header: string): unknown {
  try {
    return (JSON.parse(Buffer.from(header, "base64url").toString()) as { readonly alg?: unknown }).alg;
  } catch {
    return undefined; // it is no header at all
  }
}

function readInfo(kubeconfig: string, endpoint: string): Discovered {
  try {
    const { value } = parseYaml(kubeconfig);
    const { clusters } = value as { readonly clusters: readonly { readonly cluster: Record<string, string> }[] };
    const { server = "", "certificate-authority-data": data = "" } = clusters[0]?.cluster ?? {};
    const caPem = Buffer.from(data, "base64").toString();
    if (URL.canParse(server) && caPem.includes("-----BEGIN CERTIFICATE-----")) return { server, caPem };
  } catch {
    // said below
  }
  throw new ClusterError(
    `The cluster-info of the cluster at ${endpoint} is damaged: it names no server and authority.`,
  );
}

/** Its data. Undefined: there is none. Without `caPem` the server is not verified. */
async function infoOf(
  endpoint: string,
  caPem: string | undefined,
  clock: Clock,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { status, text } = await get(endpoint, caPem, clock);
  if (status === 404) return undefined;
  if (status !== 200)
    throw new ClusterError(
      status === 401 || status === 403
        ? `The API server at ${endpoint} does not show cluster-info to strangers (${status}): does its cluster let machines join (\`k8ts up --listen\`, --anonymous-auth)?`
        : `The API server at ${endpoint} is not ready (${status}): try again.`,
    );
  try {
    return (JSON.parse(text) as { readonly data?: Readonly<Record<string, string>> }).data ?? {};
  } catch (error) {
    throw new ClusterError(`${endpoint} is no API server: its answer is not JSON.`, { cause: error });
  }
}

async function get(endpoint: string, caPem: string | undefined, clock: Clock) {
  const agent = new Agent({ keepAlive: false });
  const timeout = new AbortController();
  const timer = clock.timer(TIMEOUT_MS, () => timeout.abort());
  try {
    const trust = caPem === undefined ? { rejectUnauthorized: false } : { ca: caPem };
    const call = request(new URL(PATH, `https://${endpoint}`), { agent, signal: timeout.signal, ...trust });
    call.end();
    const [response] = (await once(call, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk;
      if (text.length > LARGEST) throw new Error("its answer is too long");
    }
    return { status: response.statusCode ?? 500, text };
  } catch (error) {
    const why = timeout.signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : (error as Error).message;
    throw new ClusterError(
      `The API server at ${endpoint} cannot be reached: ${why}. Is it up, with --listen at this address, and does this machine have a route to it?`,
      { cause: error },
    );
  } finally {
    timer.cancel();
    agent.destroy();
  }
}
