/** What is known of an object: from the API, the scheduler and the flow records. */
import { type apps, compareInt64, type core, type Int64, kinds, parseInt64 } from "#api";
import { type Clock, realClock } from "#base";
import type { Client, ResourceOf } from "#client";
import { ClusterError, type DataDir } from "#cluster";
import type { FlowRecord, ObjectName, RequestRecord } from "#flows";
import { askServer, bodyText } from "../ask-server.ts";
import { fetchRecords, objectName } from "../flow.ts";
import type { WhyAnswer } from "./answer.ts";
import type { PodFacts, SchedulingAttempt } from "./facts.ts";
import { claimFacts } from "./gather-claim.ts";
import { rolesThatGrant } from "./roles.ts";
import { whyAutoscaler } from "./why-autoscaler.ts";
import { whyClaim } from "./why-claim.ts";
import { whyDeployment } from "./why-deployment.ts";
import { whyForbidden } from "./why-forbidden.ts";
import { deletionReasons, endingOf, refusalOf } from "./why-gone.ts";
import { whyBudget, whyJob, whyNamespace, whyService } from "./why-others.ts";
import { whyPod } from "./why-pod.ts";

const {
  Pod,
  CoreEvent: Event,
  Node,
  Service,
  PersistentVolumeClaim: Claim,
  Namespace,
  EndpointSlice: Slice,
  Job,
  PodDisruptionBudget: Budget,
  Deployment,
  HorizontalPodAutoscaler: Autoscaler,
  ReplicaSet,
  Role,
  ClusterRole,
  SubjectAccessReview: Review,
} = kinds;

/** The maximum number of Pods of one owner to look at. */
const MAX_PODS = 10;

export async function answerWhy(client: Client, dir: DataDir, object: string, namespace: string): Promise<WhyAnswer> {
  const { records } = await fetchRecords(dir);
  return explain({ client, records, attemptsOf: (uid) => attemptsOf(dir, uid), clock: realClock() }, object, namespace);
}

/** Where the facts come from. */
export interface Sources {
  readonly client: Client;
  readonly records: readonly FlowRecord[];
  /** The scheduler's attempts for the Pod with this uid. */
  readonly attemptsOf: (uid: string) => Promise<readonly SchedulingAttempt[]>;
  readonly clock: Clock;
}

export function explain(sources: Sources, object: string, namespace: string): Promise<WhyAnswer> {
  return new Gathering(sources, namespace).why(objectName(object, namespace), object);
}

class Gathering {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #records: readonly FlowRecord[];
  readonly #attemptsOf: Sources["attemptsOf"];
  readonly #clock: Clock;

  constructor({ client, records, attemptsOf, clock }: Sources, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#records = records;
    this.#attemptsOf = attemptsOf;
    this.#clock = clock;
  }

  async why(object: ObjectName, asked: string): Promise<WhyAnswer> {
    const { resource, name } = object;
    switch (resource) {
      case "pods":
        return whyPod(await this.#pod(name));
      case "apps/deployments":
        return this.#deployment(name);
      case "services":
        return this.#of(object, Service, (service) => this.#service(service));
      case "batch/jobs":
        return this.#of(object, Job, async (job) => whyJob({ job, pods: await this.#podsOf(job.metadata.uid) }));
      case "persistentvolumeclaims":
        return this.#of(object, Claim, async (claim) => {
          const events = await this.#events(`involvedObject.uid=${claim.metadata.uid}`);
          return whyClaim(await claimFacts(this.#client, claim, events, (pods) => this.#factsOf(pods)));
        });
      case "policy/poddisruptionbudgets":
        return this.#of(object, Budget, async (budget) => whyBudget({ budget, refused: this.#refusedEvictions() }));
      case "autoscaling/horizontalpodautoscalers":
        return this.#of(object, Autoscaler, async (hpa) => {
          const { explainAutoscaler } = await import("#controllers");
          const clock = this.#clock;
          const { signal } = new AbortController();
          return whyAutoscaler({
            hpa,
            explanation: await explainAutoscaler(hpa, { client: this.#client, clock, signal }),
          });
        });
      case "namespaces": {
        const { items } = await this.#client.of(Namespace).list({ fieldSelector: `metadata.name=${name}` });
        const [found] = items;
        const requests = this.#requestsAbout(object);
        if (found === undefined) return this.#missing(object);
        return whyNamespace({ namespace: found, requests, records: this.#records, now: this.#clock.now() });
      }
      default:
        throw new ClusterError(
          `\`k8ts why\` explains pods, deployments, jobs, services, claims, budgets, autoscalers and namespaces. For ${asked}, \`k8ts flow ${asked}\` shows what happened.`,
        );
    }
  }

  async #of<T extends { readonly metadata: core.Pod["metadata"] }>(
    object: ObjectName,
    type: ResourceOf<T>,
    answer: (found: T) => Promise<WhyAnswer>,
  ): Promise<WhyAnswer> {
    const at = { fieldSelector: `metadata.name=${object.name}` };
    const { items } = await this.#client.of(type).in(this.#namespace).list(at);
    const [found] = items as readonly T[];
    return found === undefined ? this.#missing(object) : answer(found);
  }

  #missing(object: ObjectName): WhyAnswer {
    const refused = refusalOf(object, this.#records);
    if (refused !== undefined) return refused;
    const ending = endingOf(this.#requestsAbout(object));
    const title = `${object.resource.slice(object.resource.indexOf("/") + 1)}/${object.name}`;
    return {
      what: `${title} does not exist`,
      because:
        ending === undefined
          ? [{ text: "there is no record of this name", evidence: "API and flow records" }]
          : deletionReasons(ending, this.#records),
      help: [],
    };
  }

  #requestsAbout({ resource, namespace, name }: ObjectName): RequestRecord[] {
    return this.#records.filter(
      (record): record is RequestRecord =>
        record.type === "request" &&
        record.resource === resource &&
        record.name === name &&
        // Some requests to a namespace carry it as their namespace too.
        (record.namespace === namespace || resource === "namespaces"),
    );
  }

  #refusedEvictions(): RequestRecord[] {
    return this.#records.filter(
      (record): record is RequestRecord =>
        record.type === "request" &&
        record.subresource === "eviction" &&
        record.status === 429 &&
        record.namespace === this.#namespace,
    );
  }

  async #pod(name: string, known?: core.Pod): Promise<PodFacts> {
    const namespace = this.#namespace;
    const at = { fieldSelector: `metadata.name=${name}` };
    const pod = known ?? (await this.#client.of(Pod).in(namespace).list(at)).items[0];
    const { items: nodes } = await this.#client.of(Node).list();
    const uid = pod?.metadata.uid;
    const about = uid === undefined ? `involvedObject.name=${name}` : `involvedObject.uid=${uid}`;
    return {
      name,
      namespace,
      pod,
      events: await this.#events(about),
      attempts: uid === undefined ? [] : await this.#attemptsOf(uid),
      requests: this.#requestsAbout({ resource: "pods", namespace, name }),
      records: this.#records,
      nodes,
      now: this.#clock.now(),
    };
  }

  async #podsOf(owner: string | undefined): Promise<PodFacts[]> {
    const { items } = await this.#client.of(Pod).in(this.#namespace).list();
    return this.#factsOf(owned(items, owner));
  }

  #factsOf(pods: readonly core.Pod[]): Promise<PodFacts[]> {
    return Promise.all(pods.slice(0, MAX_PODS).map((pod) => this.#pod(pod.metadata.name ?? "", pod)));
  }

  async #service(service: core.Service): Promise<WhyAnswer> {
    const name = service.metadata.name ?? "";
    const selector = Object.entries(service.spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
    const of = { labelSelector: `kubernetes.io/service-name=${name}` };
    const { items: slices } = await this.#client.of(Slice).in(this.#namespace).list(of);
    const pods = selector.length === 0 ? [] : await this.#selected(selector.join(","));
    return whyService({ service, slices, pods: await this.#factsOf(pods) });
  }

  async #selected(labelSelector: string): Promise<readonly core.Pod[]> {
    const { items } = await this.#client.of(Pod).in(this.#namespace).list({ labelSelector });
    return items;
  }

  async #deployment(name: string): Promise<WhyAnswer> {
    const at = { fieldSelector: `metadata.name=${name}` };
    const { items: found } = await this.#client.of(Deployment).in(this.#namespace).list(at);
    const deployment = found[0];
    const { items: sets } = await this.#client.of(ReplicaSet).in(this.#namespace).list();
    const replicaSets = owned(sets, deployment?.metadata.uid).sort((a, b) => compareInt64(revision(b), revision(a)));
    const { items: pods } = await this.#client.of(Pod).in(this.#namespace).list();
    const own = replicaSets.flatMap(({ metadata }) => owned(pods, metadata.uid));
    return whyDeployment({ name, deployment, replicaSets, pods: await this.#factsOf(own) });
  }

  /** The newest last. */
  async #events(fieldSelector: string): Promise<readonly core.Event[]> {
    const { items } = await this.#client.of(Event).in(this.#namespace).list({ fieldSelector });
    return [...items].sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }
}

async function attemptsOf(dir: DataDir, uid: string): Promise<readonly SchedulingAttempt[]> {
  const response = await askServer(dir, `/k8ts/scheduling?uid=${encodeURIComponent(uid)}`);
  const text = await bodyText(response);
  // Without an answer of the scheduler, conditions and events remain.
  return response.statusCode === 200 ? (JSON.parse(text) as SchedulingAttempt[]) : [];
}

export async function answerForbidden(
  client: Client,
  request: readonly string[],
  namespace: string,
): Promise<WhyAnswer> {
  const [user, verb, target] = request;
  if (user === undefined || verb === undefined || target === undefined)
    throw new ClusterError("Usage: `k8ts why forbidden USER VERB RESOURCE[/NAME]`.");
  const [type = "", name = ""] = target.split("/");
  const { resource } = objectName(`${type}/${name || "x"}`, namespace);
  const slash = resource.indexOf("/");
  const about = {
    verb,
    name,
    group: slash === -1 ? "" : resource.slice(0, slash),
    resource: resource.slice(slash + 1),
  };
  const spec = { user, groups: ["system:authenticated"], resourceAttributes: { ...about, namespace } };
  const review = await client
    .of(Review)
    .create({ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec });
  const { items: roles } = await client.of(Role).in(namespace).list();
  const { items: clusterRoles } = await client.of(ClusterRole).list();
  const titles = [
    ...rolesThatGrant(roles, about).map(({ metadata }) => `Role ${metadata.name}`),
    ...rolesThatGrant(clusterRoles, about).map(({ metadata }) => `ClusterRole ${metadata.name}`),
  ];
  return whyForbidden({ user, verb, target, namespace, ...review.status, roles: titles });
}

function owned<T extends core.Pod | apps.ReplicaSet>(items: readonly T[], uid: string | undefined): T[] {
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

function revision({ metadata }: apps.ReplicaSet): Int64 {
  return parseInt64(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "") ?? 0;
}
