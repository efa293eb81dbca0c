/** Taints of devices, and requests that tolerate them. */
import type { resource } from "#api";

export function toleratesDevice(toleration: resource.DeviceToleration, taint: resource.DeviceTaint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

/** Whether a taint keeps a request from getting the device. Only NoSchedule and NoExecute do. */
export function repelsRequest(
  taints: readonly resource.DeviceTaint[] | undefined,
  tolerations: readonly resource.DeviceToleration[],
): boolean {
  return (taints ?? []).some(
    (taint) =>
      (taint.effect === "NoSchedule" || taint.effect === "NoExecute") &&
      !tolerations.some((toleration) => toleratesDevice(toleration, taint)),
  );
}
