/**
 * The objects that every cluster has.
 *
 *     namespaces ──► service range
 *         ├──► roles and bindings
 *         ├──► priority classes, priority levels, flow schemas
 *         └──► config maps
 *
 * 1. Missing objects are created. Roles, bindings and flow control are also brought up to date; all others are left
 *    unchanged.
 * 2. Independent objects are created concurrently, so that a slow store delays the start only once.
 */
import { formatTime, instantOf, type KubeObject } from "#api";
import { isStoreError } from "#store";
import { DEFAULT_SERVICE_CIDR } from "../allocate/allocators.ts";
import { ensureFairnessObjects } from "../fairness/index.ts";
import { Ensure, type EnsureFailure, type Wanted } from "../loopback/ensure.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { type AuthenticationFacts, configMaps } from "./config-maps.ts";
import { type Enabled, rbacObjects } from "./rbac/index.ts";

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];
const CIDR_CONTROLLER = "kubernetes-service-cidr-controller";

export interface BootstrapOptions extends AuthenticationFacts {
  /** Whether a feature gate is on: some roles exist only with theirs. Default: none is. */
  readonly enabled?: Enabled | undefined;
  /** One of each family at most; the first is the default. */
  readonly serviceCidrs?: readonly string[] | undefined;
}

export async function bootstrap(
  context: ServerContext,
  resources: Resources,
  options: BootstrapOptions = {},
): Promise<void> {
  const ensure = new Ensure(context, resources, reportTo(context));
  await ensure.all(NAMESPACES.map((name) => ({ group: "", plural: "namespaces", object: { metadata: { name } } })));
  const now = context.clock.now();
  await Promise.all([
    ensure.all(rbacObjects(options.enabled)),
    ensure.all(priorityClasses()),
    ensureFairnessObjects(ensure, now),
    ensure.all(configMaps(options, now)),
    ensureServices(ensure, options, now),
  ]);
}

/** Publishes the authorities of client certificates for aggregated API servers. Called again when they change. */
export async function publishAuthentication(
  context: ServerContext,
  resources: Resources,
  facts: AuthenticationFacts,
): Promise<void> {
  await new Ensure(context, resources).all(configMaps(facts, context.clock.now()));
}

async function ensureServices(
  ensure: Ensure,
  { serviceCidrs = [DEFAULT_SERVICE_CIDR] }: BootstrapOptions,
  now: number,
): Promise<void> {
  const group = "networking.k8s.io";
  await ensure.one({
    group,
    plural: "servicecidrs",
    object: { metadata: { name: "kubernetes" }, spec: { cidrs: serviceCidrs } } as KubeObject,
  });
  const found = ensure.find(group, "servicecidrs", "", "kubernetes");
  if (found === undefined || hasCondition(found, "Ready", "True")) return;
  const ready = {
    type: "Ready",
    status: "True",
    message: "Kubernetes default Service CIDR is ready",
    lastTransitionTime: formatTime(instantOf(now)),
  };
  await ensure.status(group, "servicecidrs", "kubernetes", { conditions: [ready] }, CIDR_CONTROLLER);
}

/**
 * An object that cannot be created because of another that is damaged does not keep the server from starting. A store
 * that fails does.
 */
export function reportTo({ log }: ServerContext): EnsureFailure {
  return ({ group, plural, object: { metadata } }, error) => {
    if (isStoreError(error) || (error instanceof Error && isStoreError(error.cause))) throw error;
    const { namespace, name } = metadata;
    log.error("an object that every cluster has cannot be created", { group, plural, namespace, name, error });
  };
}

function priorityClasses(): readonly Wanted[] {
  const classes: readonly (readonly [string, number, string])[] = [
    [
      "system-node-critical",
      2_000_001_000,
      "Used for system critical pods that must not be moved from their current node.",
    ],
    [
      "system-cluster-critical",
      2_000_000_000,
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ],
  ];
  return classes.map(([name, value, description]) => ({
    group: "scheduling.k8s.io",
    plural: "priorityclasses",
    object: { metadata: { name }, value, description, preemptionPolicy: "PreemptLowerPriority" } as KubeObject,
  }));
}

function hasCondition(object: KubeObject, type: string, status?: string): boolean {
  const { conditions = [] } =
    (object as KubeObject & { status?: { conditions?: readonly { type: string; status: string }[] } }).status ?? {};
  return conditions.some(
    (condition) => condition.type === type && (status === undefined || condition.status === status),
  );
}
