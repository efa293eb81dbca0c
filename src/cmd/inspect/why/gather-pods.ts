/** What is known of Pods, and of what they share: nodes, other Pods, claims. */
import { type core, kinds } from "#api";
import type { RequestRecord } from "#flows";
import type { OngoingPull } from "#kubelet";
import type { WhyAnswer } from "./answer.ts";
import { statusesOf } from "./containers.ts";
import type { PodFacts } from "./facts.ts";
import { claimFacts } from "./gather-claim.ts";
import { openDeviceClaims, openGroup } from "./gather-devices.ts";
import type { WhySource } from "./source.ts";
import { whyClaim } from "./why-claim.ts";

const { Pod, CoreEvent: Event, Node, PersistentVolumeClaim: Claim } = kinds;

/** The maximum number of Pods of one owner to look at. */
const MAX_PODS = 10;

export class PodGathering {
  readonly #source: WhySource;
  readonly #namespace: string;
  #shared: Promise<{ readonly nodes: readonly core.Node[]; readonly placed: readonly core.Pod[] }> | undefined;

  constructor(source: WhySource, namespace: string) {
    this.#source = source;
    this.#namespace = namespace;
  }

  async pod(name: string, known?: core.Pod): Promise<PodFacts> {
    const { client, records, clock } = this.#source;
    const namespace = this.#namespace;
    const at = { fieldSelector: `metadata.name=${name}` };
    const pod = known ?? (await client.of(Pod).in(namespace).list(at)).items[0];
    const uid = pod?.metadata.uid;
    this.#shared ??= this.#nodesAndPods();
    const shared = await this.#shared;
    return {
      ...shared,
      name,
      namespace,
      pod,
      events: await this.events(uid === undefined ? `involvedObject.name=${name}` : `involvedObject.uid=${uid}`),
      attempts: uid === undefined ? [] : await this.#source.attempts(uid),
      requests: records.filter(
        (record): record is RequestRecord =>
          record.type === "request" &&
          record.resource === "pods" &&
          record.name === name &&
          record.namespace === namespace,
      ),
      records,
      claims: pod === undefined ? [] : await this.#open(pod, shared.placed),
      lastWords: pod === undefined ? new Map() : await this.#lastWords(pod),
      pulls: pod === undefined ? [] : await this.#pulls(pod),
      now: clock.now(),
    };
  }

  /** What the Pod needs beside a node. */
  async #open(pod: core.Pod, placed: readonly core.Pod[]): Promise<readonly WhyAnswer[]> {
    const { client } = this.#source;
    return [
      ...(await openGroup(client, pod, placed)),
      ...(await this.#openClaims(pod)),
      ...(await openDeviceClaims(client, pod)),
    ];
  }

  of(pods: readonly core.Pod[]): Promise<PodFacts[]> {
    return Promise.all(pods.slice(0, MAX_PODS).map((pod) => this.pod(pod.metadata.name ?? "", pod)));
  }

  async ownedBy(uid: string | undefined): Promise<PodFacts[]> {
    const { items } = await this.#source.client.of(Pod).in(this.#namespace).list();
    return this.of(items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)));
  }

  async selected(labelSelector: string): Promise<PodFacts[]> {
    const { items } = await this.#source.client.of(Pod).in(this.#namespace).list({ labelSelector });
    return this.of(items);
  }

  /** The newest last. Those about objects of the cluster are in the namespace default. */
  async events(fieldSelector: string, namespace = this.#namespace): Promise<readonly core.Event[]> {
    const { items } = await this.#source.client.of(Event).in(namespace).list({ fieldSelector });
    return [...items].sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }

  /** Without the Pods that use it, unless they are asked for: a Pod's own claim does not lead back to the Pod. */
  async claim(claim: core.PersistentVolumeClaim, withPods = true): Promise<WhyAnswer> {
    const events = await this.events(`involvedObject.uid=${claim.metadata.uid}`);
    const facts = await claimFacts(this.#source.client, claim, events, async (pods) => (withPods ? this.of(pods) : []));
    return whyClaim(facts);
  }

  async #nodesAndPods() {
    const { client } = this.#source;
    const { items: nodes } = await client.of(Node).list();
    const { items: pods } = await client.of(Pod).list();
    const placed = pods.filter(
      ({ spec, status }) =>
        (spec?.nodeName ?? "") !== "" && status?.phase !== "Succeeded" && status?.phase !== "Failed",
    );
    return { nodes, placed };
  }

  /** Claims that wait for the Pod's node are no reason for it to wait. */
  async #openClaims({ metadata, spec }: core.Pod): Promise<readonly WhyAnswer[]> {
    const names = (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
      if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
      return ephemeral === undefined ? [] : [`${metadata.name}-${name}`];
    });
    if (names.length === 0) return [];
    const { items } = await this.#source.client.of(Claim).in(this.#namespace).list();
    const open = items.filter((claim) => names.includes(claim.metadata.name ?? "") && claim.status?.phase !== "Bound");
    const answers = await Promise.all(open.map((claim) => this.claim(claim, false)));
    return answers.filter(({ cause = "" }) => !cause.startsWith("no Pod uses it"));
  }

  /** Asked only where a container has not been created. */
  async #pulls(pod: core.Pod): Promise<readonly OngoingPull[]> {
    const { metadata, spec } = pod;
    const isCreating = statusesOf(pod).some(
      ({ state }) => state?.waiting?.reason === "ContainerCreating" || state?.waiting?.reason === "PodInitializing",
    );
    const node = spec?.nodeName ?? "";
    if (!isCreating || node === "" || this.#source.pulls === undefined) return [];
    const all = await this.#source.pulls(node);
    return all.filter((each) => each.namespace === metadata.namespace && each.pod === metadata.name);
  }

  async #lastWords(pod: core.Pod): Promise<ReadonlyMap<string, readonly string[]>> {
    const words = new Map<string, readonly string[]>();
    for (const { name, state, lastState } of statusesOf(pod)) {
      if (state?.waiting === undefined || lastState?.terminated === undefined) continue;
      words.set(name, await this.#source.lastWords(this.#namespace, pod.metadata.name ?? "", name));
    }
    return words;
  }
}
