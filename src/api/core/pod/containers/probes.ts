/** Probes and lifecycle hooks: their handlers and their timing. */

import { fits, nonNegative, oneOf, requireText } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import type { Int64 } from "../../../machinery/json/json.ts";
import { checkHttpHeaderName } from "../../../machinery/names/names.ts";
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from "../../../types/core-v1.ts";
import { portFaults, validatePortOrName } from "./ports.ts";

export type ProbeUse = "livenessProbe" | "readinessProbe" | "startupProbe";
export const probeUses: readonly ProbeUse[] = ["livenessProbe", "readinessProbe", "startupProbe"];

type Handler = Pick<Probe, "exec" | "httpGet" | "tcpSocket" | "grpc"> & Pick<LifecycleHandler, "sleep">;

export function validateProbe(
  probe: Probe | undefined,
  use: ProbeUse,
  graceSeconds: Int64,
  at: FieldPath,
): readonly FieldError[] {
  if (probe === undefined) return [];
  const errors = [
    ...validateHandler(probe, graceSeconds, at),
    ...nonNegative(probe.initialDelaySeconds, at.child("initialDelaySeconds")),
    ...nonNegative(probe.timeoutSeconds, at.child("timeoutSeconds")),
    ...nonNegative(probe.periodSeconds, at.child("periodSeconds")),
    ...nonNegative(probe.successThreshold, at.child("successThreshold")),
    ...nonNegative(probe.failureThreshold, at.child("failureThreshold")),
  ];
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  const where = at.child("terminationGracePeriodSeconds");
  if (grace !== undefined && grace <= 0) errors.push(invalid(where, grace, "must be greater than 0"));
  if (use === "readinessProbe") {
    if (grace !== undefined) errors.push(invalid(where, grace, "must not be set for readinessProbes"));
  } else if (successThreshold !== 1) {
    errors.push(invalid(at.child("successThreshold"), successThreshold, "must be 1"));
  }
  return errors;
}

export function validateLifecycle(
  { postStart, preStop }: Lifecycle,
  graceSeconds: Int64,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...(postStart === undefined ? [] : validateHandler(postStart, graceSeconds, at.child("postStart"))),
    ...(preStop === undefined ? [] : validateHandler(preStop, graceSeconds, at.child("preStop"))),
  ];
}

/** Exactly one handler; further ones are reported but not validated. */
function validateHandler(handler: Handler, graceSeconds: Int64, at: FieldPath): readonly FieldError[] {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const handlers: readonly (readonly [string, readonly FieldError[] | undefined])[] = [
    ["exec", exec && ((exec.command ?? []).length === 0 ? [required(at.child("exec", "command"))] : [])],
    ["httpGet", httpGet && validateHttpGet(httpGet, at.child("httpGet"))],
    ["tcpSocket", tcpSocket && validatePortOrName(tcpSocket.port, at.child("tcpSocket", "port"))],
    ["grpc", grpc && portFaults(grpc.port, at.child("grpc", "port"))],
    ["sleep", sleep && validateSleep(sleep.seconds ?? 0, graceSeconds, at.child("sleep"))],
  ];
  const [first, ...more] = handlers.filter(([, faults]) => faults !== undefined);
  if (first === undefined) return [required(at, "must specify a handler type")];
  return [
    ...(first[1] ?? []),
    ...more.map(([name]) => forbidden(at.child(name), "may not specify more than 1 handler type")),
  ];
}

function validateHttpGet(
  { path, port, scheme, httpHeaders = [] }: HTTPGetAction,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...requireText(path, at.child("path")),
    ...validatePortOrName(port, at.child("port")),
    ...oneOf(scheme ?? "", ["HTTP", "HTTPS"], at.child("scheme")),
    ...httpHeaders.flatMap(({ name }) => fits(checkHttpHeaderName, name, at.child("httpHeaders"))),
  ];
}

function validateSleep(seconds: Int64, graceSeconds: Int64, at: FieldPath): readonly FieldError[] {
  if (seconds >= 0 && seconds <= graceSeconds) return [];
  return [invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
}
