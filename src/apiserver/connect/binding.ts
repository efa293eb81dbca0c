/**
 * Binding: a scheduler's decision. It sets the node of a Pod, once, and the condition PodScheduled.
 */
import { at, badRequest, conflict, type core, field, type Kind, type KubeObject, notFound, StatusError } from "#api";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { persist } from "../rest/write/persist.ts";
import { type Connector, done, posted } from "./connector.ts";
import { withCondition } from "./pod-condition.ts";

const BINDING = { group: "", resource: "pods/binding" };
const MAX_TRIES = 10;

/** At `pods/binding`, where the path names the Pod, and at `bindings`, where the object does. */
export function bindPod(pods: Resource, kind: Kind<core.Binding>): Connector {
  return async (request, exchange) => {
    const { draft, options } = await posted(request, kind);
    const binding = draft as unknown as core.Binding;
    const name = request.name === "" ? (binding.metadata.name ?? "") : request.name;
    if (name !== (binding.metadata.name ?? "")) throw badRequest("name in URL does not match name in Binding object");
    const { admission } = request.context;
    await admission.mutate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    const errors = kind.validate?.(binding, at()) ?? [];
    if (errors.length > 0) throw new StatusError("", field.aggregate(errors.map(field.fieldErrorText)));
    await admission.validate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    await assign({ ...request, name }, pods, binding, options.dryRun);
    return done(exchange, request);
  };
}

async function assign(
  { context, namespace, name, witness }: RestRequest,
  pods: Resource,
  binding: core.Binding,
  dryRun: boolean,
): Promise<void> {
  const suffix = pods.suffix(namespace, name);
  let current = pods.cache.get(suffix);
  for (let tries = 1; ; tries++) {
    if (current === undefined) throw notFound(pods.groupResource, name);
    const pod = pods.read(current) as core.Pod;
    const why = refusal(pod, binding);
    if (why !== undefined) throw conflict(BINDING, name, why);
    if (dryRun) return;
    const assigned = bound(pod, binding, context.clock.now());
    const outcome = await persist(context, pods, suffix, assigned, current.revision, witness);
    if (outcome.ok) return;
    if (tries === MAX_TRIES) throw conflict(BINDING, name);
    current = outcome.current;
  }
}

function refusal({ metadata, spec }: core.Pod, { metadata: asked }: core.Binding): string | undefined {
  const { name, uid, deletionTimestamp } = metadata;
  if ((asked.uid ?? "") !== "" && asked.uid !== uid)
    return `Precondition failed: UID in precondition: ${asked.uid}, UID in object meta: ${uid}`;
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if ((spec?.nodeName ?? "") !== "") return `pod ${name} is already assigned to node "${spec?.nodeName}"`;
  if ((spec?.schedulingGates ?? []).length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

/** A binding has no field manager. It clears nominatedNodeName. */
function bound(pod: core.Pod, { metadata, target }: core.Binding, now: number): KubeObject {
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  const labels = { ...pod.metadata.labels, ...metadata.labels };
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const next: core.Pod = {
    ...pod,
    status,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: { ...pod.spec, nodeName: target.name ?? "" } as NonNullable<core.Pod["spec"]>,
  };
  return withCondition(next, { type: "PodScheduled", status: "True" }, now);
}
