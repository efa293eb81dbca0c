/**
 * Eviction: a deletion that respects the Pod's disruption budget.
 *
 *     Pod ──► does a budget apply? ──► its budget ══► one disruption less ──► the Pod ══► deleted
 *
 * 1. The budget is decremented, by compare-and-swap, before the Pod is deleted: two evictions never use the same
 *    allowance.
 * 2. A dry run is refused for the same reasons and changes nothing.
 */
import {
  badRequest,
  type core,
  evictionNameFault,
  formatTime,
  instantOf,
  isOutsideBudgets,
  isStatusError,
  type Json,
  type KubeObject,
  matcherOfSelector,
  mayGoUnready,
  notFound,
  type policy,
  StatusError,
  spendBudget,
  tooManyRequests,
  typeSchema,
} from "#api";
import type { StoredObject } from "../cache/stored-object.ts";
import type { BodyKind } from "../rest/body.ts";
import { noAdmission } from "../rest/no-admission.ts";
import { type DeleteOptions, deleteOptions } from "../rest/options.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { deleteWith } from "../rest/write/delete.ts";
import { persist } from "../rest/write/persist.ts";
import { type Connector, done, posted } from "./connector.ts";
import { withCondition } from "./pod-condition.ts";

const MAX_TRIES = 10;
const RETRY_SECONDS = 10;
/** Names the extra write to the budget in the flow record. */
const BUDGET_SPENT = { verb: "update", apiGroup: "policy", resource: "poddisruptionbudgets", subresource: "status" };

export function evictPod(pods: Resource, budgets: Resource): Connector {
  const kind: BodyKind = {
    group: "policy",
    version: "v1",
    kind: "Eviction",
    get schema() {
      return typeSchema("io.k8s.api.policy.v1.Eviction");
    },
  };
  return async (request, exchange) => {
    const { draft, options } = await posted(request, kind);
    const eviction = draft as unknown as policy.Eviction;
    const fault = evictionNameFault(eviction, request.name);
    if (fault !== undefined) throw fault;
    const pod = find(pods, request);
    const deletion = withDryRun(
      deleteOptions(new URLSearchParams(), eviction.deleteOptions as unknown as Json | undefined),
      options.dryRun,
    );
    const { admission } = request.context;
    await admission.mutate(admissionAttributes(request, "CREATE", deletion.dryRun, draft));
    await admission.validate(admissionAttributes(request, "CREATE", deletion.dryRun, draft));
    await askBudget(request, budgets, pods.read(pod) as core.Pod, deletion.dryRun);
    await evict(request, pods, deletion);
    return done(exchange, request);
  };
}

/** Returns once the Pod may be deleted. */
async function askBudget(request: RestRequest, budgets: Resource, pod: core.Pod, dryRun: boolean): Promise<void> {
  if (isOutsideBudgets(pod)) return;
  const [found, another] = budgetsOf(budgets, pod);
  if (found === undefined) return;
  if (another !== undefined) {
    const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new StatusError("", why, { code: 500 });
  }
  const { context, name, witness } = request;
  const suffix = found.key.slice(budgets.cache.prefix.length);
  let current: StoredObject | undefined = found;
  for (let tries = 1; current !== undefined; tries++) {
    const budget = budgets.read(current) as policy.PodDisruptionBudget;
    if (mayGoUnready(pod, budget)) return;
    const status = spendBudget(budget, name, formatTime(instantOf(context.clock.now())));
    if (status instanceof StatusError) throw status;
    if (dryRun) return;
    const spent = { ...budget, status } as KubeObject;
    const outcome = await persist(context, budgets, suffix, spent, current.revision);
    if (outcome.ok) {
      witness?.wrote(spent.metadata, outcome.stored.revision, "MODIFIED", BUDGET_SPENT);
      return;
    }
    if (tries === MAX_TRIES)
      throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", RETRY_SECONDS);
    current = outcome.current;
  }
}

function budgetsOf(budgets: Resource, { metadata }: core.Pod): readonly StoredObject[] {
  const { namespace = "", labels = {} } = metadata;
  const inNamespace = budgets.readable({ from: `${namespace}/`, before: `${namespace}0` });
  return [...inNamespace].filter((stored) => {
    const { selector } = (budgets.read(stored) as policy.PodDisruptionBudget).spec ?? {};
    return selector !== undefined && matcherOfSelector(selector).matches(labels);
  });
}

/** Sets the condition DisruptionTarget, then deletes the Pod, also if it changes in between. */
async function evict(request: RestRequest, pods: Resource, options: DeleteOptions): Promise<void> {
  const { context, witness } = request;
  if (!options.dryRun) {
    const suffix = pods.suffix(request.namespace, request.name);
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
    } as const;
    for (let tries = 1, stored = find(pods, request); tries <= MAX_TRIES; tries++) {
      const next = withCondition(pods.read(stored) as core.Pod, condition, context.clock.now());
      const outcome = await persist(context, pods, suffix, next, stored.revision, witness);
      if (outcome.ok) break;
      stored = outcome.current ?? find(pods, request);
    }
  }
  try {
    // Admission has passed the eviction: the deletion that follows does not pass it again.
    await deleteWith(
      { ...request, context: { ...context, admission: noAdmission }, resource: pods, subresource: "" },
      options,
    );
  } catch (error) {
    // Already gone, as requested.
    if (!isStatusError(error, "NotFound")) throw error;
  }
}

function find(pods: Resource, { namespace, name }: RestRequest): StoredObject {
  const stored = pods.cache.get(pods.suffix(namespace, name));
  if (stored === undefined) throw notFound(pods.groupResource, name);
  return stored;
}

function withDryRun(options: DeleteOptions, dryRun: boolean): DeleteOptions {
  if (options.dryRun && !dryRun) {
    throw badRequest("Non-matching dry-run options in request and content: [] and [All]");
  }
  return { ...options, dryRun };
}
