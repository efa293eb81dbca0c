/**
 * The mandatory and suggested FlowSchemas and PriorityLevelConfigurations: created if they are missing, and restored.
 *
 * 1. Mandatory objects are restored, whatever their annotation is; of level `exempt` users may change shares and
 *    lendable percent.
 * 2. Suggested objects are restored while `apf.kubernetes.io/autoupdate-spec` is "true"; "false" leaves them to their
 *    users. An object without the annotation gets it: "true" if its spec was never changed.
 * 3. An object with "true" that this version does not have comes from another version, and is deleted.
 */
import { equalJson, type flowcontrol, formatTime, instantOf, isStatusError, type Json, type KubeObject } from "#api";
import type { Ensure, Wanted } from "../loopback/ensure.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { deleteWith } from "../rest/write/delete.ts";
import { danglingCondition, setDangling } from "./dangling.ts";
import { AUTO_UPDATE_SPEC, flowSchemas, MANDATORY, priorityLevels } from "./objects/default-objects.ts";

export const FLOW_CONTROL = "flowcontrol.apiserver.k8s.io";
const PRODUCER = "api-priority-and-fairness-config-producer-v1";

type Specs = ReadonlyMap<string, object>;

/** Creates and restores all of them, with their status. */
export async function ensureFairnessObjects(ensure: Ensure, nowMs: number): Promise<void> {
  await ensureObjects(ensure);
  const now = formatTime(instantOf(nowMs));
  await Promise.all(
    [...flowSchemas.keys()].map(async (name) => {
      const found = ensure.find(FLOW_CONTROL, "flowschemas", "", name) as flowcontrol.FlowSchema | undefined;
      const level = found?.spec?.priorityLevelConfiguration?.name ?? "";
      const exists = ensure.find(FLOW_CONTROL, "prioritylevelconfigurations", "", level) !== undefined;
      const condition = found && danglingCondition(found, exists);
      if (condition !== undefined) await setDangling(ensure, name, condition, now);
    }),
  );
}

export async function ensureObjects(ensure: Ensure): Promise<void> {
  await ensure.all(wanted("prioritylevelconfigurations", priorityLevels));
  await ensure.all(wanted("flowschemas", flowSchemas));
}

/** Deletes objects of other versions. */
export async function removeUnwanted(context: ServerContext, resources: Resources): Promise<void> {
  for (const [plural, specs] of [
    ["flowschemas", flowSchemas],
    ["prioritylevelconfigurations", priorityLevels],
  ] as const) {
    const resource = resources.find(FLOW_CONTROL, "v1", plural);
    if (resource === undefined) continue;
    for (const stored of resource.readable()) {
      const { name = "", annotations, uid, resourceVersion } = resource.read(stored).metadata;
      if ((specs as Specs).has(name) || wishOf(annotations) !== true) continue;
      const preconditions = {
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      };
      const options = {
        dryRun: false,
        gracePeriodSeconds: undefined,
        propagationPolicy: undefined,
        preconditions,
        ignoreStoreReadError: false,
      };
      await deleteWith(serverRequest(context, resource, { name }), options).catch((error: unknown) => {
        // Changed or deleted meanwhile: the next run decides.
        if (!isStatusError(error, "NotFound") && !isStatusError(error, "Conflict")) throw error;
      });
    }
  }
}

function wanted(plural: string, specs: Specs): readonly Wanted[] {
  return [...specs].map(([name, spec]) => ({
    group: FLOW_CONTROL,
    plural,
    manager: PRODUCER,
    object: { metadata: { name, annotations: { [AUTO_UPDATE_SPEC]: "true" } }, spec } as KubeObject,
    revise: (found) => revised(found, spec),
  }));
}

/** The object to write; undefined if it is right. */
export function revised(found: KubeObject, bootstrapSpec: object): KubeObject | undefined {
  const { metadata } = found;
  const { name = "", annotations } = metadata;
  const follows = MANDATORY.has(name) || (wishOf(annotations) ?? metadata.generation === 1);
  const noted = wishOf(annotations) === follows;
  const { spec } = found as KubeObject & { readonly spec?: object };
  const next = follows ? bootstrapped(name, bootstrapSpec, spec) : spec;
  if (noted && equalJson((spec ?? null) as Json, (next ?? null) as Json)) return undefined;
  return {
    ...found,
    metadata: { ...metadata, annotations: { ...annotations, [AUTO_UPDATE_SPEC]: String(follows) } },
    spec: next,
  } as KubeObject;
}

function bootstrapped(name: string, spec: object, current: object = {}): object {
  const { exempt } = current as Partial<flowcontrol.PriorityLevelConfigurationSpec>;
  return name === "exempt" && "exempt" in spec && exempt !== undefined ? { ...spec, exempt } : spec;
}

/** The value of the annotation; undefined if it is not a boolean. */
function wishOf(annotations: Readonly<Record<string, string>> | undefined): boolean | undefined {
  const wish = annotations?.[AUTO_UPDATE_SPEC]?.toLowerCase();
  if (wish === "true" || wish === "t" || wish === "1") return true;
  return wish === "false" || wish === "f" || wish === "0" ? false : undefined;
}
