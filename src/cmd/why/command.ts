/** `k8ts why`: the reason for an object's state, from what the API, the scheduler and the flow records know of it. */
import { Command } from "commander";
import type { apps, authorization, core } from "#api";
import { realClock } from "#base";
import { Client, clusterWide, https, namespaced } from "#client";
import { ClusterError, type DataDir } from "#cluster";
import type { FlowRecord, RequestRecord } from "#flows";
import { readKubeconfig } from "#pki";
import { askServer, bodyText } from "../ask-server.ts";
import { fetchRecords, objectName } from "../flow.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options.ts";
import { renderAnswer, type WhyAnswer } from "./answer.ts";
import type { PodFacts, SchedulingAttempt } from "./facts.ts";
import { whyDeployment } from "./why-deployment.ts";
import { whyForbidden } from "./why-forbidden.ts";
import { whyPod } from "./why-pod.ts";

const Pod = namespaced<core.Pod>("v1", "Pod", "pods");
const Event = namespaced<core.Event>("v1", "Event", "events");
const Node = clusterWide<core.Node>("v1", "Node", "nodes");
const Deployment = namespaced<apps.Deployment>("apps/v1", "Deployment", "deployments");
const ReplicaSet = namespaced<apps.ReplicaSet>("apps/v1", "ReplicaSet", "replicasets");
const Review = clusterWide<authorization.SubjectAccessReview>(
  "authorization.k8s.io/v1",
  "SubjectAccessReview",
  "subjectaccessreviews",
);

interface WhyOptions extends DataDirOption {
  readonly namespace: string;
}

export function whyCommand(): Command {
  return new Command("why")
    .description("say why a pod or a deployment is as it is, or why somebody may not do something")
    .argument("<object>", "pod/NAME, deployment/NAME, or forbidden")
    .argument("[request...]", "for forbidden: USER VERB RESOURCE[/NAME]")
    .addOption(dataDirOption())
    .option("-n, --namespace <name>", "namespace of the object", "default")
    .action(async (object: string, request: readonly string[], options: WhyOptions) => {
      const dir = dataDirOf(options);
      const client = await clientOf(dir);
      try {
        const answer =
          object === "forbidden"
            ? await forbidden(client, request, options.namespace)
            : await why(client, dir, object, options.namespace);
        process.stdout.write(renderAnswer(answer));
      } finally {
        await client.close();
      }
    });
}

async function clientOf(dir: DataDir): Promise<Client> {
  const clock = realClock();
  const { server, caPem, client = {} } = await readKubeconfig(dir.kubeconfig);
  return new Client({ transport: https({ server, caPem, ...client }, { clock }), clock, userAgent: "k8ts-why" });
}

async function why(client: Client, dir: DataDir, object: string, namespace: string): Promise<WhyAnswer> {
  const { resource, name } = objectName(object, namespace);
  const { records } = await fetchRecords(dir);
  const about = new Facts(client, dir, namespace, records);
  if (resource === "pods") return whyPod(await about.pod(name));
  if (resource === "apps/deployments") return about.deployment(name);
  throw new ClusterError(
    `\`k8ts why\` knows pods and deployments; of ${object}, \`k8ts flow ${object}\` shows what happened.`,
  );
}

class Facts {
  readonly #client: Client;
  readonly #dir: DataDir;
  readonly #namespace: string;
  readonly #records: readonly FlowRecord[];

  constructor(client: Client, dir: DataDir, namespace: string, records: readonly FlowRecord[]) {
    this.#client = client;
    this.#dir = dir;
    this.#namespace = namespace;
    this.#records = records;
  }

  async pod(name: string): Promise<PodFacts> {
    const namespace = this.#namespace;
    const { items: pods } = await this.#client
      .of(Pod)
      .in(namespace)
      .list({ fieldSelector: `metadata.name=${name}` });
    const { items: nodes } = await this.#client.of(Node).list();
    const pod = pods[0];
    const uid = pod?.metadata.uid;
    const events = uid === undefined ? [] : await this.#eventsOf(uid);
    const attempts = uid === undefined ? [] : await this.#attemptsOf(uid);
    const isAbout = (record: FlowRecord): record is RequestRecord =>
      record.type === "request" && record.resource === "pods" && record.name === name && record.namespace === namespace;
    return {
      name,
      namespace,
      pod,
      events,
      attempts,
      requests: this.#records.filter(isAbout),
      nodes,
      now: realClock().now(),
    };
  }

  async deployment(name: string): Promise<WhyAnswer> {
    const all = <T extends core.Pod | apps.ReplicaSet | apps.Deployment>(
      items: readonly T[],
      uid: string | undefined,
    ) => items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
    const at = { fieldSelector: `metadata.name=${name}` };
    const { items: found } = await this.#client.of(Deployment).in(this.#namespace).list(at);
    const deployment = found[0];
    const { items: sets } = await this.#client.of(ReplicaSet).in(this.#namespace).list();
    const replicaSets = all(sets, deployment?.metadata.uid).sort((a, b) => revision(b) - revision(a));
    const { items: pods } = await this.#client.of(Pod).in(this.#namespace).list();
    const own = replicaSets.flatMap(({ metadata }) => all(pods, metadata.uid));
    const facts = await Promise.all(own.slice(0, 10).map(({ metadata }) => this.pod(metadata.name ?? "")));
    return whyDeployment({ name, deployment, replicaSets, pods: facts });
  }

  async #eventsOf(uid: string): Promise<readonly core.Event[]> {
    const { items } = await this.#client
      .of(Event)
      .in(this.#namespace)
      .list({ fieldSelector: `involvedObject.uid=${uid}` });
    return items;
  }

  async #attemptsOf(uid: string): Promise<readonly SchedulingAttempt[]> {
    const response = await askServer(this.#dir, `/k8ts/scheduling?uid=${encodeURIComponent(uid)}`);
    const text = await bodyText(response);
    // A scheduler in a process of its own keeps its reasons to itself: conditions and events have to do.
    return response.statusCode === 200 ? (JSON.parse(text) as SchedulingAttempt[]) : [];
  }
}

async function forbidden(client: Client, request: readonly string[], namespace: string): Promise<WhyAnswer> {
  const [user, verb, target] = request;
  if (user === undefined || verb === undefined || target === undefined)
    throw new ClusterError("Say who, what and on what: `k8ts why forbidden USER VERB RESOURCE[/NAME]`.");
  const [type = "", name = ""] = target.split("/");
  const { resource } = objectName(`${type}/${name || "x"}`, namespace);
  const slash = resource.indexOf("/");
  const attributes = {
    verb,
    namespace,
    name,
    group: slash === -1 ? "" : resource.slice(0, slash),
    resource: resource.slice(slash + 1),
  };
  const spec = { user, groups: ["system:authenticated"], resourceAttributes: attributes };
  const review = await client
    .of(Review)
    .create({ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec });
  return whyForbidden({ user, verb, target, namespace, ...review.status });
}

function revision({ metadata }: apps.ReplicaSet): number {
  return Number(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);
}
