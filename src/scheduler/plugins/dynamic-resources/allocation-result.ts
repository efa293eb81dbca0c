/** The allocation of a claim, as its status records it. */
import type { core, resource } from "#api";
import type { Picked } from "./allocation-search.ts";
import { capacityTexts } from "./capacity.ts";
import type { DeviceFeatures } from "./device-features.ts";
import { claimText } from "./pod-claims.ts";
import type { Wanted, WantedClaim } from "./requests.ts";

type AllocationFeatures = Pick<DeviceFeatures, "bindingConditions">;

/** `newShareId`: a UUID for each share of a device. */
export function allocationOf(
  wanted: WantedClaim,
  picked: readonly Picked[],
  node: string,
  newShareId: () => string,
  features: AllocationFeatures = { bindingConditions: true },
): resource.AllocationResult {
  const config = configOf(wanted, picked);
  const nodeSelector = selectorOf(wanted, picked, node, features);
  return {
    devices: {
      results: picked.map((each) => resultOf(each, newShareId, features)),
      ...(config.length > 0 && { config }),
    },
    ...(nodeSelector !== undefined && { nodeSelector }),
  };
}

function resultOf({ wanted, device, consumed }: Picked, newShareId: () => string, features: AllocationFeatures) {
  const { bindingConditions = [], bindingFailureConditions = [] } = features.bindingConditions ? device.device : {};
  const result: resource.DeviceRequestAllocationResult = {
    request: wanted.name,
    driver: device.pool.driver,
    pool: device.pool.name,
    device: device.device.name,
    ...(wanted.adminAccess && { adminAccess: true }),
    ...(wanted.tolerations.length > 0 && { tolerations: wanted.tolerations }),
    ...(bindingConditions.length > 0 && { bindingConditions }),
    ...(bindingFailureConditions.length > 0 && { bindingFailureConditions }),
    ...(consumed !== undefined && { shareID: newShareId() }),
    ...(consumed !== undefined && consumed.size > 0 && { consumedCapacity: capacityTexts(consumed) }),
  };
  return result;
}

/** First the classes' configuration, once for each class, then the claim's; none for alternatives not taken. */
function configOf({ claim, requests }: WantedClaim, picked: readonly Picked[]) {
  const chosen = requests.map(({ options }) => chosenOf(options, picked));
  const byClass = Map.groupBy(chosen, (wanted) => wanted.class);
  const config: resource.DeviceAllocationConfiguration[] = [];
  for (const [{ spec }, users] of byClass) {
    const names = users.map(({ name }) => name);
    for (const { opaque } of spec.config ?? []) config.push(entry("FromClass", names, opaque, requests.length));
  }
  for (const { requests: names = [], opaque } of claim.spec.devices?.config ?? []) {
    const applies =
      names.length === 0 || chosen.some(({ name, request }) => names.includes(request) || names.includes(name));
    if (applies) config.push(entry("FromClaim", names, opaque, requests.length));
  }
  return config;
}

function chosenOf(options: readonly Wanted[], picked: readonly Picked[]): Wanted {
  const found = options.find((wanted) => picked.some((each) => each.wanted === wanted)) ?? options[0];
  if (found === undefined) throw new Error("a request has no alternative");
  return found;
}

/** No names: for all requests. */
function entry(
  source: "FromClass" | "FromClaim",
  names: readonly string[],
  opaque: resource.OpaqueDeviceConfiguration | undefined,
  requests: number,
): resource.DeviceAllocationConfiguration {
  const isForAll = names.length === 0 || names.length === requests;
  return { source, ...(!isForAll && { requests: names }), ...(opaque !== undefined && { opaque }) };
}

/** Where the devices can be reached from; undefined: from everywhere. */
function selectorOf(
  { claim }: WantedClaim,
  picked: readonly Picked[],
  node: string,
  { bindingConditions }: AllocationFeatures,
): core.NodeSelector | undefined {
  const fields: core.NodeSelectorRequirement[] = [];
  const expressions: core.NodeSelectorRequirement[] = [];
  for (const { device } of picked) {
    const { nodeName = "", nodeSelector } =
      device.slice.spec.perDeviceNodeSelection === true ? device.device : device.slice.spec;
    if (nodeName !== "" || (bindingConditions && device.device.bindsToNode === true))
      return { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }] };
    const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? [];
    if (others.length > 0)
      throw new Error(
        `create NodeSelector for claim ${claimText(claim)}: unsupported ResourceSlice.NodeSelector with ${others.length + 1} terms`,
      );
    addNew(fields, term?.matchFields);
    addNew(expressions, term?.matchExpressions);
  }
  if (fields.length + expressions.length === 0) return undefined;
  const term = {
    ...(fields.length > 0 && { matchFields: fields }),
    ...(expressions.length > 0 && { matchExpressions: expressions }),
  };
  return { nodeSelectorTerms: [term] };
}

function addNew(to: core.NodeSelectorRequirement[], from: readonly core.NodeSelectorRequirement[] = []): void {
  for (const requirement of from) if (!to.some((known) => keyOf(known) === keyOf(requirement))) to.push(requirement);
}

function keyOf({ key, operator, values = [] }: core.NodeSelectorRequirement): string {
  return JSON.stringify([key, operator, [...new Set(values)].sort()]);
}
