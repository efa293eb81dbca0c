/** Defaults of containers, init containers and ephemeral containers. */
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, EphemeralContainer, HTTPGetAction, Probe } from "../../../types/core-v1.ts";
import { defaultFieldRef } from "../fields/field-refs.ts";
import { defaultPullPolicy } from "../fields/image.ts";
import { roundResources } from "../resources/defaults.ts";

export function defaultContainer(container: Draft<Container> | Draft<EphemeralContainer>): void {
  if ((container.imagePullPolicy ?? "") === "") container.imagePullPolicy = defaultPullPolicy(container.image);
  if ((container.terminationMessagePath ?? "") === "") container.terminationMessagePath = "/dev/termination-log";
  if ((container.terminationMessagePolicy ?? "") === "") container.terminationMessagePolicy = "File";
  for (const { valueFrom } of container.env ?? []) defaultFieldRef(valueFrom?.fieldRef);
  roundResources(container.resources);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) defaultProbe(probe);
  defaultHttpGet(container.lifecycle?.postStart?.httpGet);
  defaultHttpGet(container.lifecycle?.preStop?.httpGet);
}

function defaultProbe(probe: Draft<Probe> | undefined): void {
  if (probe === undefined) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHttpGet(probe.httpGet);
}

function defaultHttpGet(action: Draft<HTTPGetAction> | undefined): void {
  if (action === undefined) return;
  action.path ||= "/";
  action.scheme ||= "HTTP";
}
