/**
 * Who may write which part of a ResourceClaim's status, besides the right to write the status (gate
 * DRAResourceClaimGranularStatusAuthorization).
 *
 *     allocation, reservedFor    update or patch of resourceclaims/binding
 *     devices, for each driver   associated-node:update of resourceclaims/driver, named as the driver: who runs on the
 *                                node of the allocation, by its token
 *                                arbitrary-node:update: anybody
 *
 * Who takes an allocation away takes the entries of its devices with it.
 */
import { equalJson, field, invalidStatus, type Json, type resource } from "#api";
import { NODE_NAME, type UserInfo } from "../identity/user.ts";
import type { WriteGuard } from "../rest/server-context.ts";
import { resourceAttributes } from "./attributes.ts";
import { type Authorizer, isAllowed } from "./authorizer.ts";

type Claim = resource.ResourceClaim;
type Status = resource.ResourceClaimStatus;

const GATE = "DRAResourceClaimGranularStatusAuthorization";
const HOSTNAME = "kubernetes.io/hostname";

export function claimStatusGuard(authorize: Authorizer): WriteGuard {
  return async ({ request, object, old }) => {
    const { context, user, namespace, contentType, subresource } = request;
    if (subresource !== "status" || old === undefined || !context.features.enabled(GATE)) return;
    const verb = contentType?.includes("-patch+") === true ? "patch" : "update";
    const [before, after] = [(old as Claim).status ?? {}, (object as Claim).status ?? {}];
    const may = (what: string, subresource: string, name: string) => {
      const about = { apiGroup: "resource.k8s.io", apiVersion: "*", resource: "resourceclaims", namespace };
      return isAllowed(authorize, resourceAttributes(user, what, { ...about, subresource, name }));
    };
    const faults = [];
    const bindings = (["allocation", "reservedFor"] as const).filter((name) => differs(before[name], after[name]));
    const isBound = bindings.length === 0 || (await may(verb, "binding", object.metadata.name ?? ""));
    for (const name of isBound ? [] : bindings)
      faults.push(field.forbidden(field.at("status", name), `changing it requires ${verb} of resourceclaims/binding`));
    for (const driver of changedDrivers(before, after)) {
      const isNear = isOnItsNode(user, before) || isOnItsNode(user, after);
      if (isNear && (await may(`associated-node:${verb}`, "driver", driver))) continue;
      if (await may(`arbitrary-node:${verb}`, "driver", driver)) continue;
      const which = `associated-node:${verb} or arbitrary-node:${verb} of resourceclaims/driver named "${driver}"`;
      faults.push(field.forbidden(field.at("status", "devices"), `changing it requires ${which}`));
    }
    if (faults.length > 0) throw invalidStatus(request.resource.kind, object.metadata.name ?? "", faults);
  };
}

function differs(a: unknown, b: unknown): boolean {
  return !equalJson((a ?? null) as Json, (b ?? null) as Json);
}

/** Drivers whose entries were added, changed or removed; those of devices that are given back go without asking. */
function changedDrivers(before: Status, after: Status): ReadonlySet<string> {
  const kept = new Set((after.allocation?.devices?.results ?? []).map(nameOf));
  const entries = [(before.devices ?? []).filter((each) => kept.has(nameOf(each))), after.devices ?? []] as const;
  const drivers = new Set(entries.flat().map(({ driver }) => driver));
  const [then, now] = entries.map((list) => Map.groupBy(list, ({ driver }) => driver));
  return new Set([...drivers].filter((driver) => differs(then?.get(driver), now?.get(driver))));
}

function nameOf({ driver, pool, device }: { driver: string; pool: string; device: string }): string {
  return `${driver}/${pool}/${device}`;
}

/** Whether the user's token says that it runs on the node that the claim is allocated to. */
function isOnItsNode({ extra }: UserInfo, { allocation }: Status): boolean {
  const [node, ...others] = extra?.[NODE_NAME] ?? [];
  if (node === undefined || others.length > 0) return false;
  return (allocation?.nodeSelector?.nodeSelectorTerms ?? []).some(({ matchFields = [], matchExpressions = [] }) =>
    [
      ...matchFields.filter(({ key }) => key === "metadata.name"),
      ...matchExpressions.filter(({ key }) => key === HOSTNAME),
    ].some(({ operator, values = [] }) => operator === "In" && values.includes(node)),
  );
}
