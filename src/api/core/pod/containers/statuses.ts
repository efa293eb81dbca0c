/** Validation of container statuses: their users and the health of their devices. */

import { oneOf } from "../../../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from "../../../machinery/errors/field-error.ts";
import { ownValue } from "../../../machinery/json/own-key.ts";
import type { Container, ContainerStatus, PodSpec, PodStatus, ResourceStatus } from "../../../types/core-v1.ts";
import { validateId } from "../security/security-context.ts";

const lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;
const health = ["Healthy", "Unhealthy", "Unknown"];
const longestMessage = 1024;

export function validateContainerStatuses(status: PodStatus, spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const isWindows = spec.os?.name === "windows";
  return [
    ...lists.flatMap((list) =>
      (status[list] ?? []).flatMap((one, i) =>
        validateUser(one, isWindows, at.child(list).index(i).child("user", "linux")),
      ),
    ),
    ...validateDevices(status.containerStatuses ?? [], spec.containers ?? [], at.child("containerStatuses")),
    ...validateDevices(
      status.initContainerStatuses ?? [],
      spec.initContainers ?? [],
      at.child("initContainerStatuses"),
    ),
    ...(status.ephemeralContainerStatuses ?? []).flatMap(({ allocatedResourcesStatus = [] }, i) => {
      const path = at.child("ephemeralContainerStatuses").index(i).child("allocatedResourcesStatus");
      return allocatedResourcesStatus.length === 0
        ? []
        : [forbidden(path, "must not be specified in container status")];
    }),
  ];
}

function validateUser({ user }: ContainerStatus, isWindows: boolean, at: FieldPath): readonly FieldError[] {
  const linux = user?.linux;
  if (linux === undefined) return [];
  if (isWindows) return [forbidden(at, "cannot be set for a windows pod")];
  return [
    ...validateId(linux.uid, at.child("uid")),
    ...validateId(linux.gid, at.child("gid")),
    ...(linux.supplementalGroups ?? []).flatMap((group, i) =>
      validateId(group, at.child("supplementalGroups").index(i)),
    ),
  ];
}

function validateDevices(
  statuses: readonly ContainerStatus[],
  containers: readonly Container[],
  at: FieldPath,
): readonly FieldError[] {
  return statuses.flatMap(({ name, allocatedResourcesStatus = [] }, i) => {
    const container = containers.find((one) => one.name === name);
    const path = at.index(i).child("allocatedResourcesStatus");
    return allocatedResourcesStatus.flatMap((device, j) => [
      ...(container === undefined ? [] : validateDeviceName(device.name, container, path.index(j).child("name"))),
      ...validateHealth(device, path.index(j).child("resources")),
    ]);
  });
}

function validateDeviceName(name: string, { resources }: Container, at: FieldPath): readonly FieldError[] {
  if (name.startsWith("claim:")) {
    const claims = (resources?.claims ?? []).map(
      (claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ""}`,
    );
    const form = "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
    return claims.includes(name)
      ? []
      : [invalid(at, name, `must match one of the container's resource claims in a format ${form}`)];
  }
  return ownValue(resources?.requests, name) === undefined
    ? [invalid(at, name, "must match one of the container's resource requests")]
    : [];
}

function validateHealth({ resources = [] }: ResourceStatus, at: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  return resources.flatMap(({ resourceID, health: state = "", message }, i) => {
    const path = at.index(i);
    const errors = [...oneOf(state, health, path.child("health"))];
    if (message === "") errors.push(required(path.child("message"), "must be non-empty if specified"));
    else if (message !== undefined && message.length > longestMessage)
      errors.push(tooLong(path.child("message"), longestMessage));
    if (seen.has(resourceID)) errors.push(duplicate(path.child("resourceID"), resourceID));
    seen.add(resourceID);
    return errors;
  });
}
