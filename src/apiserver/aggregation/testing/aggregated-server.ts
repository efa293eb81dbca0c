/** A real API server on a free port, and extension servers behind it: for tests of what passes between them. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, KubeObject } from "#api";
import { type Logger, MetricsRegistry, silentLogger, systemRandom, VirtualClock } from "#base";
import { ensureClusterPki } from "#pki";
import { openStore } from "#store";
import type { Tracer } from "#tracing";
import type { Egress } from "../../egress/index.ts";
import { type ApiServer, startApiServer } from "../../server.ts";
import type { AggregationReach } from "../aggregation.ts";
import {
  type ExtensionServer,
  type ExtensionServerOptions,
  extensionServer,
  GROUP,
  VERSION,
} from "./extension-server.ts";

export const API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
export const NAME = `${VERSION}.${GROUP}`;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly json: JsonObject;
}

export interface AskOptions {
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Default: an administrator. */
  readonly token?: string;
}

export interface AggregatedServer {
  readonly server: ApiServer;
  /** Time of the server: it moves only when told to. */
  readonly clock: VirtualClock;
  readonly metrics: MetricsRegistry;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** The request, for tests of streams. */
  open(method: string, path: string, options?: AskOptions): ClientRequest;
  extension(options?: Partial<ExtensionServerOptions>): Promise<ExtensionServer>;
  /** Makes the Service and the APIService for it. */
  register(extension: Pick<ExtensionServer, "port" | "caBundle">, spec?: object): Promise<void>;
  /** Of the APIService: `status reason`. */
  available(name?: string): Promise<string>;
  close(): Promise<void>;
}

const TOKENS = new Map([
  ["root", { name: "root", uid: "u-1", groups: ["system:masters"], extra: { "acme.com/Rôle": ["a", "ü"] } }],
  ["jane", { name: "jane", groups: ["dev", "ops, and more"] }],
]);

export async function aggregatedServer(
  log: Logger = silentLogger,
  aggregation?: AggregationReach,
  tracer?: Tracer,
  egress?: Egress,
): Promise<AggregatedServer> {
  const clock = new VirtualClock(Date.now());
  const dir = await mkdtemp(join(tmpdir(), "k8ts-aggregation-"));
  const serverNames = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const pki = await ensureClusterPki(dir, { clock, serverNames });
  const store = await openStore({ kind: "memory", clock });
  const metrics = new MetricsRegistry();
  const server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    store,
    sharedStore: false,
    authentication: { tokens: TOKENS },
    frontProxyIdentity: () => pki.frontProxyClient,
    aggregation,
    tracer,
    egress,
    clock,
    random: systemRandom(),
    log,
    metrics,
  });
  const extensions: ExtensionServer[] = [];

  const open: AggregatedServer["open"] = (method, path, { headers = {}, token = "root" } = {}) => {
    const { port } = server;
    const authorization = `Bearer ${token}`;
    const ca = pki.ca.certPem;
    return httpsRequest({
      host: "127.0.0.1",
      port,
      ca,
      method,
      path,
      headers: { authorization, ...headers },
      agent: false,
    });
  };
  const ask: AggregatedServer["ask"] = async (method, path, options = {}) => {
    const { body } = options;
    const request = open(method, path, options);
    request.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text) as JsonObject;
      },
    };
  };
  const made = async (path: string, body: object) => {
    const answer = await ask("POST", path, { body, headers: { "content-type": "application/json" } });
    if (answer.status !== 201) throw new Error(answer.text);
  };

  return {
    server,
    clock,
    metrics,
    ask,
    open,
    async extension(options = {}) {
      const extension = await extensionServer({ frontProxyCa: pki.frontProxyCa.certPem, ...options });
      extensions.push(extension);
      return extension;
    },
    async register({ port, caBundle }, spec = {}) {
      const metadata = { name: "wardle", namespace: "default" };
      await made("/api/v1/namespaces/default/services", {
        metadata,
        spec: { type: "ExternalName", externalName: "localhost" },
      });
      const service = { ...metadata, port };
      await made(API_SERVICES, {
        metadata: { name: NAME },
        spec: {
          ...{ group: GROUP, version: VERSION, groupPriorityMinimum: 1000, versionPriority: 15, service, caBundle },
          ...spec,
        },
      });
    },
    async available(name = NAME) {
      const { json } = await ask("GET", `${API_SERVICES}/${name}`);
      const { status } = json as unknown as KubeObject & {
        status?: { conditions?: readonly { status: string; reason: string }[] };
      };
      const [condition] = status?.conditions ?? [];
      return condition === undefined ? "" : `${condition.status} ${condition.reason}`;
    },
    async close() {
      await server.stop();
      for (const extension of extensions) await extension.close();
      await store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
