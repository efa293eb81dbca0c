/** From the name of an object to its answer: reads what the answer for its kind needs. */
import { type apps, compareInt64, type Int64, type KubeObject, kinds, parseInt64 } from "#api";
import { discoverResources, type ResourceOf } from "#client";
import { ClusterError } from "#cluster";
import type { ObjectName, RequestRecord } from "#flows";
import { objectName } from "../flow.ts";
import type { WhyAnswer } from "./answer.ts";
import { cronJobAnswer, ingressAnswer, leftIn, nodeAnswer, serviceAnswer } from "./gather-objects.ts";
import { PodGathering } from "./gather-pods.ts";
import { whyGeneric } from "./objects/generic.ts";
import { whyNamespace } from "./objects/namespace.ts";
import { whyQuota } from "./objects/quota.ts";
import { whyDaemonSet, whyReplicaSet, whyStatefulSet } from "./objects/workloads.ts";
import type { WhySource } from "./source.ts";
import { whyAutoscaler } from "./why-autoscaler.ts";
import { whyDeployment } from "./why-deployment.ts";
import { deletionReasons, endingOf, refusalOf } from "./why-gone.ts";
import { whyBudget, whyJob } from "./why-others.ts";
import { whyPod } from "./why-pod.ts";

const { Pod, Namespace, Deployment, ReplicaSet, HorizontalPodAutoscaler: Autoscaler } = kinds;

export function answerWhy(source: WhySource, object: string, namespace: string): Promise<WhyAnswer> {
  return new Gathering(source, namespace).why(objectName(object, namespace));
}

class Gathering {
  readonly #source: WhySource;
  readonly #namespace: string;
  readonly #pods: PodGathering;

  constructor(source: WhySource, namespace: string) {
    this.#source = source;
    this.#namespace = namespace;
    this.#pods = new PodGathering(source, namespace);
  }

  async why(object: ObjectName): Promise<WhyAnswer> {
    const source = this.#source;
    const pods = this.#pods;
    const now = source.clock.now();
    switch (object.resource) {
      case "pods":
        return whyPod(await pods.pod(object.name));
      case "apps/deployments":
        return this.#deployment(object);
      case "apps/statefulsets":
        return this.#of(object, kinds.StatefulSet, async (set) => whyStatefulSet(await this.#workload(set)));
      case "apps/daemonsets":
        return this.#of(object, kinds.DaemonSet, async (set) => whyDaemonSet(await this.#workload(set)));
      case "apps/replicasets":
        return this.#of(object, ReplicaSet, async (set) => whyReplicaSet(await this.#workload(set)));
      case "services":
        return this.#of(object, kinds.Service, (service) => serviceAnswer(source, pods, service));
      case "networking.k8s.io/ingresses":
        return this.#of(object, kinds.Ingress, (ingress) => ingressAnswer(source, pods, ingress));
      case "batch/jobs":
        return this.#of(object, kinds.Job, async (job) => whyJob({ job, pods: await pods.ownedBy(job.metadata.uid) }));
      case "batch/cronjobs":
        return this.#of(object, kinds.CronJob, (job) => cronJobAnswer(source, pods, job));
      case "persistentvolumeclaims":
        return this.#of(object, kinds.PersistentVolumeClaim, (claim) => pods.claim(claim));
      case "policy/poddisruptionbudgets":
        return this.#of(object, kinds.PodDisruptionBudget, async (budget) =>
          whyBudget({ budget, refused: this.#refusedEvictions() }),
        );
      case "resourcequotas":
        return this.#of(object, kinds.ResourceQuota, async (quota) => whyQuota(quota));
      case "autoscaling/horizontalpodautoscalers":
        return this.#of(object, Autoscaler, async (hpa) => {
          const { explainAutoscaler } = await import("#controllers");
          const { signal } = new AbortController();
          const { client, clock } = source;
          return whyAutoscaler({
            hpa,
            explanation: await explainAutoscaler(hpa, { client, clock, signal }),
          });
        });
      case "nodes":
        return this.#of(object, kinds.Node, (node) => nodeAnswer(source, pods, node));
      case "namespaces":
        return this.#of(object, Namespace, async (namespace) => {
          const left = namespace.metadata.deletionTimestamp === undefined ? [] : await leftIn(source, object.name);
          const requests = this.#requestsAbout(object);
          return whyNamespace({ namespace, requests, records: source.records, left, now });
        });
      default:
        return this.#generic(object);
    }
  }

  async #workload<T extends KubeObject>(object: T) {
    const { uid } = object.metadata;
    const events = await this.#pods.events(`involvedObject.uid=${uid}`);
    return { object, pods: await this.#pods.ownedBy(uid), events };
  }

  /** Any other kind, also one of a CustomResourceDefinition. */
  async #generic(object: ObjectName): Promise<WhyAnswer> {
    const { client, records, clock } = this.#source;
    const now = clock.now();
    const slash = object.resource.indexOf("/");
    const group = slash === -1 ? "" : object.resource.slice(0, slash);
    const plural = object.resource.slice(slash + 1);
    const { resources } = await discoverResources(client);
    const type = resources.find((each) => each.group === group && each.plural === plural);
    if (type === undefined)
      throw new ClusterError(`This cluster has no resource ${plural}${group === "" ? "" : `.${group}`}.`);
    if (!type.verbs.includes("list"))
      throw new ClusterError(`Objects of ${plural} are not stored: there is nothing to explain.`);
    const named = { ...object, namespace: type.namespaced ? this.#namespace : "" };
    return this.#of<KubeObject>(named, type, async (found) => {
      const at = type.namespaced ? this.#namespace : "default";
      const events = await this.#pods.events(`involvedObject.uid=${found.metadata.uid}`, at);
      const requests = this.#requestsAbout(named);
      const title = `${type.kind.toLowerCase()}/${object.name}`;
      return whyGeneric({ title, object: found, events, requests, records, now });
    });
  }

  async #of<T extends KubeObject>(
    object: ObjectName,
    type: ResourceOf<T>,
    answer: (found: T) => Promise<WhyAnswer>,
  ): Promise<WhyAnswer> {
    const all = this.#source.client.of(type);
    const at = { fieldSelector: `metadata.name=${object.name}` };
    const { items } = await (object.namespace === "" ? all : all.in(object.namespace)).list(at);
    const [found] = items;
    return found === undefined ? this.#missing(object) : answer(found);
  }

  #missing(object: ObjectName): WhyAnswer {
    const { records } = this.#source;
    const refused = refusalOf(object, records);
    if (refused !== undefined) return refused;
    const ending = endingOf(this.#requestsAbout(object));
    const title = `${object.resource.slice(object.resource.indexOf("/") + 1)}/${object.name}`;
    const because =
      ending === undefined
        ? [{ text: "there is no record of this name", evidence: "API and flow records" }]
        : deletionReasons(ending, records);
    return { what: `${title} does not exist`, cause: because[0]?.text, because, help: [] };
  }

  #requestsAbout({ resource, namespace, name }: ObjectName): RequestRecord[] {
    return this.#source.records.filter(
      (record): record is RequestRecord =>
        record.type === "request" &&
        record.resource === resource &&
        record.name === name &&
        // Some requests to a namespace carry it as their namespace too.
        (record.namespace === namespace || resource === "namespaces"),
    );
  }

  #refusedEvictions(): RequestRecord[] {
    return this.#source.records.filter(
      (record): record is RequestRecord =>
        record.type === "request" &&
        record.subresource === "eviction" &&
        record.status === 429 &&
        record.namespace === this.#namespace,
    );
  }

  async #deployment(object: ObjectName): Promise<WhyAnswer> {
    return this.#of(object, Deployment, async (deployment) => {
      const { client } = this.#source;
      const { items: sets } = await client.of(ReplicaSet).in(this.#namespace).list();
      const replicaSets = owned(sets, deployment.metadata.uid).sort((a, b) => compareInt64(revision(b), revision(a)));
      const { items: pods } = await client.of(Pod).in(this.#namespace).list();
      const own = replicaSets.flatMap(({ metadata }) => owned(pods, metadata.uid));
      return whyDeployment({ name: object.name, deployment, replicaSets, pods: await this.#pods.of(own) });
    });
  }
}

function owned<T extends KubeObject>(items: readonly T[], uid: string | undefined): T[] {
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

function revision({ metadata }: apps.ReplicaSet): Int64 {
  return parseInt64(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "") ?? 0;
}
