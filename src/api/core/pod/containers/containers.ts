/** Validation of containers and init containers; ephemeral containers have a file of their own. */

import { oneOf, requireFits, requireOneOf, requireText } from "../../../definition/field-checks.ts";
import {
  allErrors,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
  tooMany,
} from "../../../machinery/errors/field-error.ts";
import { checkDns1123Label } from "../../../machinery/names/names.ts";
import type { Container, EphemeralContainer, PodSpec, Volume } from "../../../types/core-v1.ts";
import { pullPolicies } from "../fields/image.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { isSidecar } from "../resources/container-totals.ts";
import { validateContainerResources, validateResizePolicy } from "../resources/resources.ts";
import { validateSecurityContext } from "../security/security-context.ts";
import { validateDevices, validateMounts } from "../volumes/mounts.ts";
import { validateEnv, validateEnvFrom } from "./env.ts";
import { validateHostPorts, validatePorts } from "./ports.ts";
import { probeUses, validateLifecycle, validateProbe } from "./probes.ts";

export interface ContainerContext {
  readonly spec: PodSpec;
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly options: PodValidationOptions;
}

const messagePolicies = ["File", "FallbackToLogsOnError"];
const onlySidecars = "may not be set for init containers without restartPolicy=Always";

/** The rules that hold for all three types of containers. */
export function validateAnyContainer(
  container: Container | EphemeralContainer,
  context: ContainerContext,
  at: FieldPath,
): readonly FieldError[] {
  const { spec, volumes, options } = context;
  const { ports, env, envFrom, volumeMounts, volumeDevices, resources, resizePolicy, securityContext } = container;
  return allErrors(
    requireFits(checkDns1123Label, container.name, at.child("name")),
    requireText(container.image, at.child("image")),
    requireOneOf(container.terminationMessagePolicy, messagePolicies, at.child("terminationMessagePolicy")),
    ports ? validatePorts(ports, at.child("ports")) : NO_ERRORS,
    env ? validateEnv(env, at.child("env")) : NO_ERRORS,
    envFrom ? validateEnvFrom(envFrom, at.child("envFrom")) : NO_ERRORS,
    volumeMounts ? validateMounts(container, volumes, at.child("volumeMounts")) : NO_ERRORS,
    volumeDevices ? validateDevices(container, volumes, at.child("volumeDevices")) : NO_ERRORS,
    requireOneOf(container.imagePullPolicy, pullPolicies, at.child("imagePullPolicy")),
    resources
      ? validateContainerResources(resources, spec.resourceClaims ?? [], at.child("resources"), options)
      : NO_ERRORS,
    resizePolicy ? validateResizePolicy(resizePolicy, spec.restartPolicy, at.child("resizePolicy")) : NO_ERRORS,
    securityContext
      ? validateSecurityContext(securityContext, spec.hostUsers !== false, at.child("securityContext"))
      : NO_ERRORS,
  );
}

export function validateContainers(context: ContainerContext, at: FieldPath): readonly FieldError[] {
  const containers = context.spec.containers ?? [];
  if (containers.length === 0) return [required(at)];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, container] of containers.entries()) {
    const path = at.index(i);
    errors.push(...validateAnyContainer(container, context, path));
    if (names.has(container.name)) errors.push(duplicate(path.child("name"), container.name));
    names.add(container.name);
    errors.push(...validateProbesAndHooks(container, context, path), ...validateRestartPolicy(container, path));
  }
  return allErrors(errors, validateHostPorts(containers, at));
}

export function validateInitContainers(context: ContainerContext, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set((context.spec.containers ?? []).map(({ name }) => name));
  for (const [i, container] of (context.spec.initContainers ?? []).entries()) {
    const path = at.index(i);
    errors.push(...validateAnyContainer(container, context, path), ...validateInitRestartPolicy(container, path));
    if (names.has(container.name)) errors.push(duplicate(path.child("name"), container.name));
    else if (container.name) names.add(container.name);
    // Init containers run one by one: each has the host's ports for itself. The fault does not name the index.
    errors.push(...validateHostPorts([container], at));
    if (isSidecar(container)) errors.push(...validateProbesAndHooks(container, context, path));
    else errors.push(...validatePlainInit(container, path, context.options));
  }
  return errors;
}

/** Only for pods: templates may use a blank image as a placeholder for tools. */
export function imageSpaceFaults({ image = "" }: Pick<Container, "image">, at: FieldPath): readonly FieldError[] {
  return image.trim() === image
    ? NO_ERRORS
    : [invalid(at.child("image"), image, "must not have leading or trailing whitespace")];
}

function validateProbesAndHooks(
  container: Container,
  { spec }: ContainerContext,
  at: FieldPath,
): readonly FieldError[] {
  const graceSeconds = spec.terminationGracePeriodSeconds ?? 0;
  const errors: FieldError[] = [];
  if (container.lifecycle !== undefined)
    errors.push(...validateLifecycle(container.lifecycle, graceSeconds, at.child("lifecycle")));
  for (const use of probeUses) {
    const probe = container[use];
    if (probe !== undefined) errors.push(...validateProbe(probe, use, graceSeconds, at.child(use)));
  }
  return errors;
}

function validatePlainInit(container: Container, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  const refused = (["lifecycle", ...probeUses] as const).filter((field) => container[field] !== undefined);
  const errors = refused.map((field) => forbidden(at.child(field), onlySidecars));
  if (options.allowRestartOnInitResize) return errors;
  const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
  for (const [i, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy !== "RestartContainer") continue;
    errors.push(invalid(at.child("resizePolicy").index(i).child("restartPolicy"), restartPolicy, why));
  }
  return errors;
}

/** The rules of an init container are validated only together with its policy. */
function validateInitRestartPolicy(container: Container, at: FieldPath): readonly FieldError[] {
  if (container.restartPolicy !== undefined) return validateRestartPolicy(container, at);
  return (container.restartPolicyRules ?? []).length > 0 ? [rulesWithoutPolicy(at)] : NO_ERRORS;
}

function rulesWithoutPolicy(at: FieldPath): FieldError {
  return required(at.child("restartPolicy"), "must specify restartPolicy when restart rules are used");
}

const mostRules = 20;
const mostExitCodes = 255;

function validateRestartPolicy(
  { restartPolicy, restartPolicyRules = [] }: Container,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const path = at.child("restartPolicyRules");
  if (restartPolicy !== undefined)
    errors.push(...oneOf(restartPolicy, ["Always", "Never", "OnFailure"], at.child("restartPolicy")));
  else if (restartPolicyRules.length > 0) errors.push(rulesWithoutPolicy(at));
  if (restartPolicyRules.length > mostRules) errors.push(tooMany(path, restartPolicyRules.length, mostRules));
  for (const [i, { action = "", exitCodes }] of restartPolicyRules.entries()) {
    errors.push(...oneOf(action, ["Restart", "RestartAllContainers"], path.index(i).child("action")));
    const where = path.index(i).child("exitCodes");
    if (exitCodes === undefined) {
      errors.push(required(where, "must be specified"));
      continue;
    }
    errors.push(...oneOf(exitCodes.operator ?? "", ["In", "NotIn"], where.child("operator")));
    const count = exitCodes.values?.length ?? 0;
    if (count > mostExitCodes) errors.push(tooMany(where.child("values"), count, mostExitCodes));
  }
  return errors;
}
