/**
 * Authentication and authorization of requests to the kubelet: client certificates are verified here, the rest by the
 * API server.
 *
 *     certificate ─────────────────────► user ──► SubjectAccessReview on nodes/… ──► allowed or not
 *     bearer token ──► TokenReview ────────┘
 *
 * 1. Anonymous requests are refused.
 * 2. Answers are cached for upstream's TTLs: a revoked permission takes effect within that time.
 * 3. Some paths have a subresource of their own; `nodes/proxy` allows those, too.
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { TLSSocket } from "node:tls";
import { type authorization, kinds } from "#api";
import { type Clock, TtlMap, table } from "#base";
import type { Client } from "#client";

const { TokenReview, SubjectAccessReview } = kinds;

const TOKEN_MS = 2 * 60_000;
const ALLOWED_MS = 5 * 60_000;
const DENIED_MS = 30_000;
const MAX_KEPT = 1_000;

export interface User {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const VERBS: Readonly<Record<string, string>> = table({
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
});

/** Subresources by the first part of the path; all other paths need `proxy`. */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = table({
  stats: ["stats"],
  metrics: ["metrics"],
  logs: ["log"],
  checkpoint: ["checkpoint"],
  pods: ["pods", "proxy"],
  runningpods: ["pods", "proxy"],
  healthz: ["healthz", "proxy"],
  configz: ["configz", "proxy"],
  statusz: ["statusz", "proxy"],
  flagz: ["flagz", "proxy"],
});

export interface Question {
  readonly method: string;
  readonly path: string;
}

/** Paths that need `create` whatever the method: a WebSocket begins with GET, but `get` must not run commands. */
const CREATING = new Set(["exec", "attach", "portForward", "run"]);

export function verbAndSubresources({ method, path }: Question): readonly [string, readonly string[]] {
  const [, first = ""] = path.split("/");
  return [CREATING.has(first) ? "create" : (VERBS[method] ?? ""), SUBRESOURCES[first] ?? ["proxy"]];
}

export type Verdict = "allowed" | "unknown" | { readonly denied: string };

export class KubeletAccess {
  readonly #client: Client;
  readonly #nodeName: string;
  readonly #tokens: TtlMap<string, User>;
  readonly #verdicts: TtlMap<string, boolean>;

  constructor({
    client,
    nodeName,
    clock,
  }: { readonly client: Client; readonly nodeName: string; readonly clock: Clock }) {
    this.#client = client;
    this.#nodeName = nodeName;
    this.#tokens = new TtlMap(MAX_KEPT, clock);
    this.#verdicts = new TtlMap(MAX_KEPT, clock);
  }

  async check(question: Question, headers: IncomingHttpHeaders, socket: TLSSocket): Promise<Verdict> {
    const user = certified(socket) ?? (await this.#bearer(headers.authorization));
    if (user === undefined) return "unknown";
    const [verb, subresources] = verbAndSubresources(question);
    for (const subresource of subresources) if (await this.#may(user, verb, subresource)) return "allowed";
    return {
      denied: `Forbidden (user=${user.user}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}])\n`,
    };
  }

  async #bearer(authorization: string | undefined): Promise<User | undefined> {
    const token = /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    // The cache has digests, not the tokens.
    const key = createHash("sha256").update(token).digest("base64");
    const kept = this.#tokens.get(key);
    if (kept !== undefined) return kept;
    const { status } = await this.#client.of(TokenReview).create({ metadata: {}, spec: { token } });
    if (status?.authenticated !== true) return undefined;
    const { username = "", groups = [], uid, extra } = status.user ?? {};
    const user = { user: username, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
    this.#tokens.set(key, user, TOKEN_MS);
    return user;
  }

  async #may(user: User, verb: string, subresource: string): Promise<boolean> {
    const key = JSON.stringify([user, verb, subresource]);
    const kept = this.#verdicts.get(key);
    if (kept !== undefined) return kept;
    const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: this.#nodeName };
    const spec = { ...user, resourceAttributes } as authorization.SubjectAccessReviewSpec;
    const { status } = await this.#client.of(SubjectAccessReview).create({ metadata: {}, spec });
    const allowed = status?.allowed === true;
    this.#verdicts.set(key, allowed, allowed ? ALLOWED_MS : DENIED_MS);
    return allowed;
  }
}

/** The user of a valid client certificate. */
export function certified(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  // Node's types have only single values; a repeated attribute is a list.
  const { CN, O } = (subject ?? {}) as { readonly CN?: string | string[]; readonly O?: string | string[] };
  const [user] = [CN ?? []].flat();
  return user === undefined ? undefined : { user, groups: [...[O ?? []].flat(), "system:authenticated"] };
}
