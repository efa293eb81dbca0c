/**
 * A cloud in memory that answers the calls of docs/cloud-provider.openapi.yaml: machines that an administrator adds,
 * routes, and load balancers with addresses of 198.51.100.0/24. A start for a server in front of a real cloud.
 */

export interface Request {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface Response {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Address {
  readonly type: string;
  readonly address: string;
}

export interface Instance {
  readonly providerID: string;
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly shutdown?: boolean;
  readonly addresses: readonly Address[];
}

export interface Route {
  readonly nodeName: string;
  readonly destination: string;
}

export interface LoadBalancer {
  readonly name: string;
  readonly ip: string;
  readonly targets: readonly { readonly nodeName: string }[];
}

const REMEMBERED_KEYS = 1_000;

export class SampleCloud {
  /** By the names of their Nodes. */
  readonly instances = new Map<string, Instance>();
  readonly routes = new Map<string, Route>();
  /** By the uids of Services. */
  readonly loadBalancers = new Map<string, LoadBalancer>();
  readonly #token: string;
  readonly #answers = new Map<string, Response>();

  constructor(token: string) {
    this.#token = token;
  }

  answer(request: Request): Response {
    if (request.headers.authorization !== `Bearer ${this.#token}`)
      return error(401, "Unauthorized", "the token is not the right one");
    const key = request.headers["idempotency-key"];
    if (request.method === "GET" || key === undefined) return this.#answer(request);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const response = this.#answer(request);
    this.#answers.set(key, response);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > REMEMBERED_KEYS && oldest !== undefined) this.#answers.delete(oldest);
    return response;
  }

  #answer({ method, url, body }: Request): Response {
    const { pathname, searchParams } = new URL(url, "http://sample");
    const parts = pathname.split("/").slice(1).map(decodeURIComponent);
    const [version, what, name = "", kind, uid = "", targets] = parts;
    if (version !== "v1") return error(404, "NoSuchPath", pathname);
    if (what === "instances" && method === "GET" && parts.length === 2) return this.#find(searchParams);
    // For administrators; the cluster does not call it.
    if (what === "instances" && parts.length === 3) return this.#administer(method, name, body);
    if (what === "clusters" && kind === "routes" && parts.length === 4)
      return this.#route(method, name, searchParams, body);
    if (what === "clusters" && kind === "loadbalancers" && parts.length === 5)
      return this.#loadBalancer(method, uid, body);
    if (what === "clusters" && kind === "loadbalancers" && targets === "targets" && method === "PUT")
      return this.#targets(uid, body);
    return error(404, "NoSuchPath", pathname);
  }

  #find(query: URLSearchParams): Response {
    const [name, id] = [query.get("nodeName") ?? "", query.get("providerID")];
    const found =
      id === null ? this.instances.get(name) : [...this.instances.values()].find(({ providerID }) => providerID === id);
    return found === undefined
      ? error(404, "NotFound", `there is no machine ${id ?? name}`)
      : { status: 200, body: found };
  }

  #administer(method: string, name: string, body: string): Response {
    if (method === "DELETE") this.instances.delete(name);
    else if (method === "PUT") this.instances.set(name, JSON.parse(body) as Instance);
    else return error(405, "MethodNotAllowed", method);
    return { status: 204 };
  }

  #route(method: string, cluster: string, query: URLSearchParams, body: string): Response {
    const idOf = ({ nodeName, destination }: Route) => `${cluster} ${nodeName} ${destination}`;
    if (method === "GET") {
      const own = [...this.routes].filter(([id]) => id.startsWith(`${cluster} `)).map(([, route]) => route);
      return { status: 200, body: { routes: own } };
    }
    if (method === "PUT") {
      const route = JSON.parse(body) as Route;
      this.routes.set(idOf(route), route);
      return { status: 204 };
    }
    if (method !== "DELETE") return error(405, "MethodNotAllowed", method);
    const id = idOf({ nodeName: query.get("nodeName") ?? "", destination: query.get("destination") ?? "" });
    return this.routes.delete(id) ? { status: 204 } : error(404, "NotFound", "there is no such route");
  }

  #loadBalancer(method: string, uid: string, body: string): Response {
    if (method === "DELETE")
      return this.loadBalancers.delete(uid)
        ? { status: 204 }
        : error(404, "NotFound", "there is no such load balancer");
    if (method !== "PUT") return error(405, "MethodNotAllowed", method);
    const ip = this.loadBalancers.get(uid)?.ip ?? this.#freeAddress();
    if (ip === undefined) return error(409, "QuotaExceeded", "no address is left");
    this.loadBalancers.set(uid, { ...(JSON.parse(body) as LoadBalancer), ip });
    return { status: 200, body: { ingress: [{ ip }] } };
  }

  #targets(uid: string, body: string): Response {
    const known = this.loadBalancers.get(uid);
    if (known === undefined) return error(404, "NotFound", "there is no such load balancer");
    this.loadBalancers.set(uid, { ...known, ...(JSON.parse(body) as Pick<LoadBalancer, "targets">) });
    return { status: 204 };
  }

  #freeAddress(): string | undefined {
    const taken = new Set([...this.loadBalancers.values()].map(({ ip }) => ip));
    return Array.from({ length: 254 }, (_, at) => `198.51.100.${at + 1}`).find((ip) => !taken.has(ip));
  }
}

function error(status: number, code: string, message: string): Response {
  return { status, body: { code, message } };
}
