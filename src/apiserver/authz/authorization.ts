/**
 * The composition of authorization: the chain of modes over the server's caches, and checks of writes.
 *
 *     caches --► RBAC, node graph ──┐
 *     files ──► ABAC, webhooks ─────┴──► chain ──► authorize ──► pipeline, impersonation, reviews, write guards
 */
import type { rbac } from "#api";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import type { StoreFeed } from "../cache/feed.ts";
import type { Egress } from "../egress/index.ts";
import type { UserInfo } from "../identity/user.ts";
import { follow } from "../loopback/follow.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { WriteAccess } from "../rest/server-context.ts";
import { abac } from "./abac.ts";
import { adminAccessGuards } from "./admin-access.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import { resourceAttributes } from "./attributes.ts";
import { type Authorizer, demand } from "./authorizer.ts";
import { claimStatusGuard } from "./claim-status.ts";
import { DEFAULT_MODES, type ModeSpec, type WebhookSpec } from "./config.ts";
import { AuthorizationConfigError } from "./config-error.ts";
import { CurrentModes, type WebhookMode } from "./current-modes.ts";
import { countDecisions, measured } from "./metrics.ts";
import type { Mode, Rules } from "./mode.ts";
import { NodeGraph } from "./node/graph.ts";
import { nodeAuthorizer } from "./node/node-authorizer.ts";
import { escalationGuards } from "./rbac/escalation.ts";
import { RBAC_GROUP, Rbac } from "./rbac/rbac.ts";
import { type WebhookMetrics, webhookMetrics } from "./webhook/metrics.ts";
import { poster } from "./webhook/post.ts";
import { type MatchCondition, webhookAuthorizer } from "./webhook/webhook.ts";

export interface AuthorizationOptions {
  /** In order. Default: Node, RBAC. */
  readonly modes?: readonly ModeSpec[] | undefined;
  readonly resources: Resources;
  readonly feed: Pick<StoreFeed, "revision">;
  /** The rules of every node. */
  readonly nodeRules: readonly rbac.PolicyRule[];
  /** Compiles a CEL expression into a condition; throws if it is invalid. Without it, webhooks have no conditions. */
  readonly compileCondition?: (expression: string) => MatchCondition;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How webhooks are reached. Absent: directly. */
  readonly egress?: Egress | undefined;
}

export interface Authorization {
  readonly authorize: Authorizer;
  rulesFor(user: UserInfo, namespace: string): Rules;
  readonly writeAccess: WriteAccess;
  /** Replaces the modes. Throws AuthorizationConfigError, and changes nothing, if they are invalid. */
  configure(modes: readonly ModeSpec[]): void;
  /** Aborts calls of webhooks. */
  close(): void;
}

/** Requires loaded caches. */
export function authorization(options: AuthorizationOptions): Authorization {
  const { modes: specs = DEFAULT_MODES, metrics, clock } = options;
  const stopping = new AbortController();
  const rules = new Rbac(specs.find(({ type }) => type === "RBAC")?.name);
  rules.follow((plural) => served(options.resources, RBAC_GROUP, plural), options.feed.revision);
  const counted = webhookMetrics(metrics, clock);
  const modes = new CurrentModes(
    specs,
    {
      lasting: (spec) => modeOf(spec, rules, options),
      webhook: (spec) => webhookOf(spec, options, counted, stopping.signal),
    },
    countDecisions(metrics),
  );
  const { authorize } = modes;
  return {
    authorize: measured(authorize, metrics, clock),
    rulesFor: (user, namespace) => modes.rulesFor(user, namespace),
    writeAccess: {
      guards: new Map([
        ...escalationGuards(rules, authorize),
        ...adminAccessGuards(served(options.resources, "", "namespaces"), claimStatusGuard(authorize)),
      ]),
      mayCreate: (request) => mayCreate(authorize, request),
    },
    configure: (next) => modes.replace(next),
    close: () => stopping.abort(),
  };
}

function mayCreate(authorize: Authorizer, request: Parameters<WriteAccess["mayCreate"]>[0]): void | Promise<void> {
  const { user, resource, namespace, name } = request;
  const { group: apiGroup, version: apiVersion, names } = resource.kind;
  return demand(
    authorize,
    resourceAttributes(user, "create", { apiGroup, apiVersion, resource: names.plural, namespace, name }),
  );
}

function modeOf(spec: Exclude<ModeSpec, WebhookSpec>, rules: Rbac, options: AuthorizationOptions): Mode {
  switch (spec.type) {
    case "AlwaysAllow":
      return alwaysAllow(spec.name);
    case "AlwaysDeny":
      return alwaysDeny(spec.name);
    case "RBAC":
      return rules;
    case "ABAC":
      return abac(spec.policies, spec.name);
    case "Node":
      return nodeAuthorizer({ name: spec.name, rules: options.nodeRules, graph: () => nodeGraph(options) });
  }
}

function nodeGraph({ resources, feed }: AuthorizationOptions): NodeGraph {
  const graph = new NodeGraph();
  const { revision } = feed;
  follow(served(resources, "", "pods"), revision, graph.pods);
  follow(served(resources, "", "persistentvolumes"), revision, graph.volumes);
  follow(served(resources, "storage.k8s.io", "volumeattachments"), revision, graph.attachments);
  follow(served(resources, "resource.k8s.io", "resourceslices"), revision, graph.slices);
  return graph;
}

function webhookOf(
  spec: WebhookSpec,
  options: AuthorizationOptions,
  metrics: WebhookMetrics,
  signal: AbortSignal,
): WebhookMode {
  const { clock, random, log, compileCondition } = options;
  if (spec.matchConditions.length > 0 && compileCondition === undefined) {
    throw new AuthorizationConfigError(`The webhook ${spec.name} has match conditions, which this version has not.`);
  }
  const connection = poster(spec.connection, spec.timeoutMs, clock, options.egress?.controlplane);
  signal.addEventListener("abort", () => connection.close(), { once: true });
  const { name, version, authorizedTtlMs, unauthorizedTtlMs, onFailure } = spec;
  const mode = webhookAuthorizer({
    name,
    version,
    authorizedTtlMs,
    unauthorizedTtlMs,
    onFailure,
    matchConditions: compileCondition === undefined ? [] : spec.matchConditions.map(compileCondition),
    poster: connection,
    signal,
    clock,
    random,
    log,
    metrics,
  });
  return { mode, retire: () => connection.retire() };
}

function served(resources: Resources, group: string, plural: string): Resource {
  const found = resources.find(group, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}
