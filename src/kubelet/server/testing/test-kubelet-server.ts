/** A kubelet server on loopback with one Pod, a runtime whose streams a test provides, and client certificates. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import { WebSocket } from "ws";
import type { core } from "#api";
import { type Clock, MetricsRegistry, realClock, silentLogger } from "#base";
import type { Client } from "#client";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { KUBELET_DEFAULTS } from "../../config/index.ts";
import { type ContainerStatus, type Runtime, RuntimeError } from "../../runtime/runtime.ts";
import type { Page } from "../served.ts";
import { type KubeletServer, startKubeletServer } from "../server.ts";
import { SpdyServer } from "./spdy-server.ts";

export interface TestServerOptions {
  readonly pod?: core.Pod;
  readonly container?: Partial<ContainerStatus>;
  /** The runtime's side of a stream: called when data arrives. */
  readonly play?: (server: SpdyServer) => void;
  /** Answers to TokenReviews and SubjectAccessReviews. */
  readonly users?: Readonly<Record<string, string>>;
  readonly allowed?: (user: string, verb: string, subresource: string) => boolean;
  readonly problem?: string;
  readonly page?: Page;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: admin. */
  readonly as?: KeyPair | "nobody";
}

export interface Answered {
  readonly status: number;
  readonly body: string;
}

export class TestKubeletServer implements AsyncDisposable {
  readonly clock: Clock = realClock();
  readonly asked: string[] = [];
  readonly #options: TestServerOptions;
  readonly #runtime: Server;
  readonly #connections = new Set<Duplex>();
  #authority: Authority | undefined;
  #admin: KeyPair | undefined;
  #server: KubeletServer | undefined;

  constructor(options: TestServerOptions = {}) {
    this.#options = options;
    this.#runtime = createServer().on("upgrade", (asked, socket) => {
      this.#connections.add(socket);
      this.asked.push(
        `${asked.method} ${asked.url} ${asked.headers.upgrade} ${asked.headers["x-stream-protocol-version"]}`,
      );
      const [protocol] = (asked.headers["x-stream-protocol-version"] ?? "").toString().split(", ");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${protocol}\r\n\r\n`,
      );
      new SpdyServer(socket, (server) => options.play?.(server));
    });
  }

  async start(): Promise<this> {
    const { clock } = this;
    this.#runtime.listen(0, "127.0.0.1");
    await once(this.#runtime, "listening");
    const authority = await createAuthority({ commonName: "test", clock });
    this.#authority = authority;
    const certificate = await authority.issue({ commonName: "node", ipAddresses: ["127.0.0.1"], usages: ["server"] });
    this.#admin = await this.certificate("admin", ["system:masters"]);
    const kubelet = this.#kubelet();
    this.#server = await startKubeletServer({
      kubelet,
      clock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      page: this.#options.page,
      host: "127.0.0.1",
      port: 0,
      certificate,
      clientCaPem: authority.certPem,
    });
    return this;
  }

  certificate(commonName: string, organizations: readonly string[]): Promise<KeyPair> {
    if (this.#authority === undefined) throw new Error("not started");
    return this.#authority.issue({ commonName, organizations, usages: ["client"] });
  }

  async get(path: string, asking: Asking = {}): Promise<Answered> {
    const { method = "GET", headers = {}, as = this.#admin } = asking;
    const tls = this.#tls(as === "nobody" ? undefined : as);
    const asked = request({ ...tls, host: "127.0.0.1", port: this.port, path, method, headers, agent: false });
    asked.end();
    const [response] = await once(asked, "response");
    let body = "";
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode, body };
  }

  /** The cipher suite that a client with these options gets; throws if there is none. */
  async cipher(options: ConnectionOptions): Promise<string> {
    const socket = connect({ ...this.#tls(undefined), host: "127.0.0.1", port: this.port, ...options });
    try {
      await once(socket, "secureConnect");
      return socket.getCipher().name;
    } finally {
      socket.destroy();
    }
  }

  async renew(): Promise<void> {
    if (this.#authority === undefined) throw new Error("not started");
    const names = { commonName: "node", ipAddresses: ["127.0.0.1"] };
    this.#server?.renew(await this.#authority.issue({ ...names, usages: ["server"] }));
  }

  webSocket(path: string, protocols: readonly string[]): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${this.port}${path}`, [...protocols], this.#tls(this.#admin));
  }

  /** Requests an upgrade to SPDY, unless the headers say otherwise. */
  async upgrade(path: string, more: Readonly<Record<string, string | string[]>>): Promise<Duplex> {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", ...more };
    const method = headers.upgrade === "websocket" ? "GET" : "POST";
    const tls = this.#tls(this.#admin);
    const asked = request({ ...tls, host: "127.0.0.1", port: this.port, path, method, headers, agent: false });
    asked.end();
    const [, socket] = await once(asked, "upgrade");
    return socket;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const connection of this.#connections) connection.destroy();
    this.#runtime.close();
  }

  #tls(as: KeyPair | undefined) {
    return { ca: this.#authority?.certPem ?? "", ...(as !== undefined && { cert: as.certPem, key: as.keyPem }) };
  }

  #kubelet() {
    const { pod, container, problem } = this.#options;
    const status = { id: "c1", state: "running", ...container } as ContainerStatus;
    const url = (kind: string) => `http://127.0.0.1:${(this.#runtime.address() as AddressInfo).port}/${kind}`;
    const runtime = {
      containerStatus: async () => status,
      exec: async ({ command }: { command: readonly string[] }) => {
        if (command[0] === "broken") throw new RuntimeError("Unknown", "container is in CONTAINER_EXITED state");
        return url("exec");
      },
      attach: async () => url("attach"),
      portForward: async () => url("portforward"),
      listPodSandboxes: async () => [{ id: "s1", state: "ready" }],
      listContainers: async () => [{ ...status, image: "img", labels: LABELS }],
      execSync: async (_: string, command: readonly string[]) => ({
        stdout: Buffer.from(command.join("+")),
        stderr: Buffer.alloc(0),
        exitCode: 0,
      }),
    } as unknown as Runtime;
    return {
      config: { ...KUBELET_DEFAULTS, nodeName: "node-1", nodeIps: ["127.0.0.1"], podLogsRoot: "/var/log/pods" },
      runtime,
      client: this.#client(),
      pods: () => (pod === undefined ? [] : [pod]),
      pod: (namespace: string, name: string) =>
        pod?.metadata.namespace === namespace && pod.metadata.name === name ? pod : undefined,
      container: async (_: core.Pod, name: string) => (name === "main" ? status : undefined),
      problem: () => problem,
    };
  }

  #client(): Client {
    const { users = {}, allowed = (user: string) => user === "admin" } = this.#options;
    const create = async ({ spec }: { spec: Review }) => {
      if (spec.token !== undefined) {
        this.asked.push(`token ${spec.token}`);
        const username = users[spec.token];
        return { status: username === undefined ? {} : { authenticated: true, user: { username, groups: [] } } };
      }
      const { user = "", resourceAttributes: { verb, subresource } = { verb: "", subresource: "" } } = spec;
      this.asked.push(`may ${user} ${verb} ${subresource}`);
      return { status: { allowed: allowed(user, verb, subresource) } };
    };
    return { of: () => ({ create }) } as unknown as Client;
  }
}

interface Review {
  readonly token?: string;
  readonly user?: string;
  readonly resourceAttributes?: { readonly verb: string; readonly subresource: string };
}

const LABELS = {
  "io.kubernetes.pod.name": "web",
  "io.kubernetes.pod.namespace": "default",
  "io.kubernetes.pod.uid": "u1",
  "io.kubernetes.container.name": "main",
};

export const WEB: core.Pod = {
  metadata: { name: "web", namespace: "default", uid: "u1" },
  spec: { containers: [{ name: "main", image: "img", tty: true }] },
  status: {
    phase: "Running",
    containerStatuses: [
      {
        name: "main",
        ready: true,
        restartCount: 0,
        image: "img",
        imageID: "img",
        containerID: "test://c1",
        state: { running: {} },
      },
    ],
  },
};
