/**
 * The dashboard's routes, below a random path, so that browsers send its cookie to no other server on this machine:
 *
 *     /<path>/?token=…     the link: starts a session, once
 *     /<path>/link         another link, for whoever has the secret of this dashboard
 *     /<path>/             the page, /<path>/assets/… its files
 *     /<path>/proxy/…      the API, as the user        /<path>/streams   watches and logs, over one WebSocket
 *     /<path>/why?…        why an object is in its state   /<path>/forwards   ports on this machine
 *     /<path>/cluster      the parts of this cluster
 *     /<path>/clusters     other clusters of this machine's user
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "#base";
import { SAFE_HEADERS, sendAsset, sendPage } from "./assets.ts";
import { answerCluster, type DescribeCluster } from "./cluster.ts";
import { answerClusters, type Clusters } from "./clusters.ts";
import { answerWhy, type Explain } from "./explain.ts";
import { Forwards } from "./forwards/forwards.ts";
import { answerForwards } from "./forwards/requests.ts";
import { cookieOf, refusal } from "./guard.ts";
import { answerStatus, proxied } from "./proxy.ts";
import type { Sessions } from "./sessions.ts";
import { Streams } from "./streams.ts";
import { refuseUpgrade, tunnelled } from "./tunnel.ts";
import { ApiServer, type Upstream } from "./upstream.ts";

const COOKIE = "k8ts-dashboard";

export interface RoutesOptions {
  readonly clock: Clock;
  readonly sessions: Sessions;
  /** The common path prefix, such as `/x1y2`. */
  readonly path: string;
  readonly port: () => number;
  readonly newLink: () => string;
  readonly assets: string;
  readonly upstream: () => Promise<Upstream>;
  readonly explain?: Explain | undefined;
  readonly clusters?: Clusters | undefined;
  readonly describeCluster?: DescribeCluster | undefined;
}

export class Routes {
  readonly #options: RoutesOptions;
  readonly #streams = new Streams();
  readonly #forwards: Forwards;
  #api: Promise<ApiServer> | undefined;
  readonly #all: ApiServer[] = [];

  constructor(options: RoutesOptions) {
    this.#options = options;
    this.#forwards = new Forwards(options.clock);
  }

  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    const { method = "GET", headers, url = "/" } = message;
    const refused = refusal({ method, headers }, this.#options.port());
    if (refused !== undefined) return say(response, 403, refused);
    const below = this.#below(url);
    if (below === undefined) return say(response, 404, NO_LINK);
    if (below.startsWith("/?token=") && method === "GET") return this.#enter(below.slice("/?token=".length), response);
    if (below === "/link") {
      if (!this.#options.sessions.isHolder(headers.authorization)) return say(response, 401, NO_LINK);
      return say(response, 200, this.#options.newLink());
    }
    if (!this.#admits(message)) {
      return below.startsWith("/proxy/")
        ? answerStatus(response, 401, "Unauthorized", NO_LINK)
        : say(response, 401, NO_LINK);
    }
    if (below === "/" || below.startsWith("/?")) return sendPage(this.#options.assets, response);
    if (below.startsWith("/why?") && method === "GET") {
      const { explain, upstream } = this.#options;
      return answerWhy(explain, upstream, new URLSearchParams(below.slice("/why?".length)), response);
    }
    if (below === "/cluster" && method === "GET") {
      const { describeCluster, upstream } = this.#options;
      return answerCluster(describeCluster, upstream, response);
    }
    if (below === "/session") return this.#session(response);
    if (/^\/forwards(\/|$)/.test(below))
      return answerForwards(this.#forwards, () => this.#server(), below, message, response);
    if (/^\/clusters(\?|$)/.test(below)) {
      const query = new URLSearchParams(below.slice("/clusters".length));
      return answerClusters(this.#options.clusters, query, method, response);
    }
    if (below.startsWith("/assets/")) return sendAsset(this.#options.assets, below.slice("/assets/".length), response);
    if (below.startsWith("/proxy/"))
      return proxied(await this.#server(), below.slice("/proxy".length), message, response);
    return say(response, 404, "Not found.");
  }

  async upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const refused = refusal({ method: "GET", headers: message.headers, isUpgrade: true }, this.#options.port());
    if (refused !== undefined) return refuseUpgrade(socket, 403, "Forbidden");
    const below = this.#below(message.url ?? "/");
    if (below === undefined || !this.#admits(message)) return refuseUpgrade(socket, 401, "Unauthorized");
    const api = await this.#server();
    if (below === "/streams") return this.#streams.serve(api, message, socket, head);
    if (below.startsWith("/proxy/")) return tunnelled(api, below.slice("/proxy".length), message, socket, head);
    refuseUpgrade(socket, 404, "Not Found");
  }

  async close(): Promise<void> {
    this.#streams.close();
    await this.#forwards.closeAll();
    for (const api of this.#all) api.close();
  }

  #below(url: string): string | undefined {
    const { path } = this.#options;
    return url.startsWith(`${path}/`) ? url.slice(path.length) : undefined;
  }

  #admits({ headers }: IncomingMessage): boolean {
    return this.#options.sessions.admits(cookieOf(headers, COOKIE));
  }

  /**
   * A page that forwards to the dashboard, not a redirect: so the cookie is sent wherever the link was followed from.
   */
  #enter(token: string, response: ServerResponse): void {
    const id = this.#options.sessions.redeem(token);
    if (id === undefined) {
      say(response, 401, USED_LINK);
      return;
    }
    // A new session uses the current credentials.
    this.#api = undefined;
    response.setHeader("set-cookie", `${COOKIE}=${id}; Path=${this.#options.path}/; HttpOnly; SameSite=Strict`);
    response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end('<!doctype html><title>k8ts</title><meta http-equiv="refresh" content="0;url=./">');
  }

  async #session(response: ServerResponse): Promise<void> {
    const { server, context, namespace } = await this.#options.upstream();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ server, context, namespace }));
  }

  #server(): Promise<ApiServer> {
    this.#api ??= this.#connect();
    return this.#api;
  }

  async #connect(): Promise<ApiServer> {
    try {
      const api = new ApiServer(await this.#options.upstream());
      this.#all.push(api);
      return api;
    } catch (error) {
      this.#api = undefined;
      throw error;
    }
  }
}

const NO_LINK = "Open the dashboard with the link that `k8ts dashboard` prints.";
const USED_LINK = "This link is used or invalid. `k8ts dashboard` prints a new one.";

function say(response: ServerResponse, code: number, sentence: string): void {
  response.writeHead(code, { "content-type": "text/plain; charset=utf-8" }).end(`${sentence}\n`);
}
