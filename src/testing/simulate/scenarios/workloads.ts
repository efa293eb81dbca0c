/** Objects for scenarios. */
import type { apps, batch, core, policy } from "#api";

export const NAMESPACE = "default";

interface PodFacts {
  readonly image?: string;
  readonly cpu?: string;
  readonly graceSeconds?: number;
}

function podSpec({ image = "app:1", cpu = "100m", graceSeconds = 5 }: PodFacts = {}): core.PodSpec {
  return {
    containers: [{ name: "app", image, resources: { requests: { cpu } } }],
    terminationGracePeriodSeconds: graceSeconds,
  };
}

function selected(name: string, facts?: PodFacts) {
  const labels = { app: name };
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec(facts) } };
}

export function deployment(
  name: string,
  replicas: number,
  { spec = {}, ...facts }: PodFacts & { readonly spec?: Partial<apps.DeploymentSpec> } = {},
): apps.Deployment {
  return { metadata: { name, namespace: NAMESPACE }, spec: { replicas, ...selected(name, facts), ...spec } };
}

export function statefulSet(
  name: string,
  replicas: number,
  { spec = {}, ...facts }: PodFacts & { readonly spec?: Partial<apps.StatefulSetSpec> } = {},
): apps.StatefulSet {
  const metadata = { name, namespace: NAMESPACE };
  return { metadata, spec: { replicas, serviceName: name, ...selected(name, facts), ...spec } };
}

export function job(name: string, spec: Partial<batch.JobSpec> = {}): batch.Job {
  const template = { spec: { ...podSpec(), restartPolicy: "Never" as const } };
  return { metadata: { name, namespace: NAMESPACE }, spec: { ...spec, template } };
}

export function service(name: string): core.Service {
  const spec = { selector: { app: name }, ports: [{ port: 80 }] };
  return { metadata: { name, namespace: NAMESPACE }, spec };
}

export function budget(name: string, minAvailable: number): policy.PodDisruptionBudget {
  const spec = { minAvailable, selector: { matchLabels: { app: name } } };
  return { metadata: { name, namespace: NAMESPACE }, spec };
}

export function withImage(image: string) {
  return {
    type: "strategic",
    object: { spec: { template: { spec: { containers: [{ name: "app", image }] } } } },
  } as const;
}

export function withReplicas(replicas: number) {
  return { type: "merge", object: { spec: { replicas } } } as const;
}
