/** HTTP, TCP and gRPC requests to containers. Each ends with its signal and closes its connection. */
import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect } from "node:net";
import { Client, credentials } from "@grpc/grpc-js";

export interface HttpQuestion {
  readonly scheme: "HTTP" | "HTTPS";
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** The network access of probes and hooks. */
export interface ContainerNetwork {
  httpGet(question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer>;
  tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void>;
  /** The serving status: 1 is SERVING. */
  grpcHealth(host: string, port: number, service: string, signal: AbortSignal): Promise<number>;
}

const MAX_BODY = 10 * 1024;
const MAX_REDIRECTS = 10;

export function containerNetwork(): ContainerNetwork {
  return { httpGet: (question, signal) => followed(question, signal, 0), tcpConnect, grpcHealth };
}

export function urlOf({ scheme, host, port, path }: HttpQuestion): string {
  const base = `${scheme.toLowerCase()}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return `${base}${path.startsWith("/") ? path : `/${path}`}`;
}

/** Follows redirects within the same host; a redirect to another host is the answer. */
async function followed(question: HttpQuestion, signal: AbortSignal, redirects: number): Promise<HttpAnswer> {
  const { status, body, location } = await httpGet(question, signal);
  if (status < 300 || status >= 400 || location === undefined) return { status, body };
  if (redirects >= MAX_REDIRECTS) throw new Error(`stopped after ${MAX_REDIRECTS} redirects`);
  const target = new URL(location, urlOf(question));
  if (target.hostname !== new URL(urlOf(question)).hostname) return { status, body };
  const scheme = target.protocol === "https:" ? "HTTPS" : "HTTP";
  const port = target.port === "" ? (scheme === "HTTPS" ? 443 : 80) : Number(target.port);
  const next = { ...question, scheme, port, path: target.pathname + target.search } as const;
  return followed(next, signal, redirects + 1);
}

async function httpGet(question: HttpQuestion, signal: AbortSignal) {
  const { scheme, host, port, headers } = question;
  const path = question.path.startsWith("/") ? question.path : `/${question.path}`;
  const all: Record<string, string | string[]> = {
    "user-agent": "kube-probe/1.36",
    accept: "*/*",
    connection: "close",
  };
  for (const { name } of headers) {
    const values = headers.filter((each) => each.name.toLowerCase() === name.toLowerCase()).map(({ value }) => value);
    all[name.toLowerCase()] = values.length === 1 ? (values[0] ?? "") : values;
  }
  const options = { host, port, path, method: "GET", headers: all, signal, agent: false };
  const request = scheme === "HTTPS" ? requestHttps({ ...options, rejectUnauthorized: false }) : requestHttp(options);
  request.end();
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_BODY) break;
  }
  response.destroy();
  const body = Buffer.concat(chunks).subarray(0, MAX_BODY).toString();
  return { status: response.statusCode ?? 0, body, location: response.headers.location };
}

async function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  const socket = connect({ host, port, signal });
  try {
    await once(socket, "connect");
  } finally {
    socket.on("error", () => {});
    socket.destroy();
  }
}

/** grpc.health.v1.Health/Check: one text field in, one number out. */
async function grpcHealth(host: string, port: number, service: string, signal: AbortSignal): Promise<number> {
  const client = new Client(`${host.includes(":") ? `[${host}]` : host}:${port}`, credentials.createInsecure());
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const name = Buffer.from(service);
  const call = client.makeUnaryRequest(
    "/grpc.health.v1.Health/Check",
    () => (name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name])),
    (bytes: Buffer) => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0),
    {},
    (error, status) => (error === null ? resolve(status ?? 0) : reject(error)),
  );
  const cancel = () => call.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", cancel);
    client.close();
  }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}
