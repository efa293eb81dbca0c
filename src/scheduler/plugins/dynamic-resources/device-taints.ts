/**
 * Taints of devices, and requests that tolerate them. DeviceTaintRules add taints as if the devices' drivers had
 * published them (gate DRADeviceTaintRules).
 */
import type { resource, resourceV1alpha3 } from "#api";

type Rule = resourceV1alpha3.DeviceTaintRule;

export interface DeviceName {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

export class TaintRules {
  readonly #rules = new Map<string, Rule>();

  set(rule: Rule): void {
    this.#rules.set(rule.metadata.name ?? "", rule);
  }

  delete(rule: Rule): void {
    this.#rules.delete(rule.metadata.name ?? "");
  }

  /** The device's own taints, then those of rules. */
  taintsOf(name: DeviceName, own: readonly resource.DeviceTaint[] | undefined): readonly resource.DeviceTaint[] {
    if (this.#rules.size === 0) return own ?? [];
    const added = [...this.#rules.values()].filter((rule) => selectsDevice(rule, name)).map(({ spec }) => spec.taint);
    return [...(own ?? []), ...added];
  }
}

/** Every field of the selector has to match; an empty one matches all devices. */
function selectsDevice({ spec: { deviceSelector = {} } }: Rule, name: DeviceName): boolean {
  const { driver = name.driver, pool = name.pool, device = name.device } = deviceSelector;
  return driver === name.driver && pool === name.pool && device === name.device;
}

export function toleratesDevice(toleration: resource.DeviceToleration, taint: resource.DeviceTaint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

/** Whether a taint keeps a request from getting the device. Only NoSchedule and NoExecute do. */
export function repelsRequest(
  taints: readonly resource.DeviceTaint[],
  tolerations: readonly resource.DeviceToleration[],
): boolean {
  return taints.some(
    (taint) =>
      (taint.effect === "NoSchedule" || taint.effect === "NoExecute") &&
      !tolerations.some((toleration) => toleratesDevice(toleration, taint)),
  );
}
