/** Reads what the answers about Services, Ingresses, CronJobs, nodes and namespaces need. */
import { type batch, type core, kinds, type networking } from "#api";
import { discoverResources } from "#client";
import type { WhyAnswer } from "./answer.ts";
import type { PodGathering } from "./gather-pods.ts";
import { whyCronJob } from "./objects/cron-job.ts";
import { backendsOf, whyIngress } from "./objects/ingress.ts";
import type { LeftObject } from "./objects/namespace.ts";
import { whyNode } from "./objects/node.ts";
import type { WhySource } from "./source.ts";
import { whyJob, whyService } from "./why-others.ts";

export async function serviceAnswer(
  { client }: WhySource,
  gathering: PodGathering,
  service: core.Service,
): Promise<WhyAnswer> {
  const { name = "", namespace = "" } = service.metadata;
  const selector = Object.entries(service.spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const of = { labelSelector: `kubernetes.io/service-name=${name}` };
  const { items: slices } = await client.of(kinds.EndpointSlice).in(namespace).list(of);
  const pods = selector.length === 0 ? [] : await gathering.selected(selector.join(","));
  return whyService({ service, slices, pods });
}

export async function ingressAnswer(
  source: WhySource,
  gathering: PodGathering,
  ingress: networking.Ingress,
): Promise<WhyAnswer> {
  const { client } = source;
  const { namespace = "" } = ingress.metadata;
  const { items: classes } = await client.of(kinds.IngressClass).list();
  const { items: all } = await client.of(kinds.Service).in(namespace).list();
  const { items: secrets } = await client.metadataOf(kinds.Secret).in(namespace).list();
  const services = new Map(all.map((service) => [service.metadata.name ?? "", service]));
  const answers = new Map<string, WhyAnswer>();
  for (const { service } of backendsOf(ingress)) {
    const found = services.get(service.name);
    if (found === undefined) continue;
    const answer = await serviceAnswer(source, gathering, found);
    if (answer.cause !== undefined) answers.set(service.name, answer);
  }
  return whyIngress({
    ingress,
    classes,
    services,
    answers,
    secrets: new Set(secrets.map(({ metadata }) => metadata.name ?? "")),
  });
}

export async function cronJobAnswer(
  { client, clock }: WhySource,
  gathering: PodGathering,
  object: batch.CronJob,
): Promise<WhyAnswer> {
  const { uid, namespace = "" } = object.metadata;
  const { items } = await client.of(kinds.Job).in(namespace).list();
  const own = items
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .sort((a, b) => Date.parse(a.metadata.creationTimestamp ?? "") - Date.parse(b.metadata.creationTimestamp ?? ""));
  const jobs = await Promise.all(
    own
      .slice(-3)
      .map(async (job) => ({ job, answer: whyJob({ job, pods: await gathering.ownedBy(job.metadata.uid) }) })),
  );
  return whyCronJob({ object, events: await gathering.events(`involvedObject.uid=${uid}`), jobs, now: clock.now() });
}

export async function nodeAnswer(
  { client, clock }: WhySource,
  gathering: PodGathering,
  node: core.Node,
): Promise<WhyAnswer> {
  const { name = "" } = node.metadata;
  const at = { fieldSelector: `metadata.name=${name}` };
  const { items: leases } = await client.of(kinds.Lease).in("kube-node-lease").list(at);
  const events = await gathering.events(`involvedObject.kind=Node,involvedObject.name=${name}`, "default");
  return whyNode({ node, lease: leases[0], events, now: clock.now() });
}

/** What a namespace still has, except what goes with it in any case: events. */
export async function leftIn({ client }: WhySource, namespace: string): Promise<readonly LeftObject[]> {
  const { resources } = await discoverResources(client);
  const left: LeftObject[] = [];
  for (const type of resources) {
    if (!type.namespaced || !type.verbs.includes("list") || !type.verbs.includes("delete") || type.plural === "events")
      continue;
    const { items } = await client.metadataOf(type).in(namespace).list();
    const title = type.group === "" ? type.kind.toLowerCase() : `${type.plural}.${type.group}`;
    for (const { metadata } of items)
      left.push({ type: title, name: metadata.name ?? "", finalizers: metadata.finalizers ?? [] });
  }
  return left;
}
