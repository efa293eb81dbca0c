/** Records for tests, as a script: `story()` numbers them and gives them times. */
import type { DeliveryRecord, FlowRecord, RequestRecord, WorkRecord } from "../record/record.ts";

const REQUEST: RequestRecord = {
  type: "request",
  seq: 0,
  at: 0,
  actor: "kubectl",
  user: "alice",
  verb: "create",
  resource: "pods",
  subresource: "",
  namespace: "default",
  name: "x",
  status: 201,
  tookMs: 1,
};

const WORK: WorkRecord = {
  type: "work",
  seq: 0,
  at: 0,
  id: "w",
  actor: "controller",
  about: "default/x",
  woken: [],
  tookMs: 1,
  decided: "",
  calls: [],
  claimed: false,
  foreignClock: false,
};

const DELIVERY: DeliveryRecord = {
  type: "delivery",
  seq: 0,
  at: 0,
  resource: "pods",
  namespace: "default",
  name: "x",
  revision: 0,
  change: "ADDED",
  to: [],
  watchers: 1,
};

/** One millisecond after the other unless a record says when. */
export class Story {
  readonly records: FlowRecord[] = [];

  request(
    facts: Partial<RequestRecord> & {
      readonly revision?: number;
      readonly change?: "MODIFIED" | "DELETED";
      readonly uid?: string;
    },
  ): this {
    const { revision, change = "ADDED", uid = `uid-${facts.name ?? "x"}`, ...rest } = facts;
    const { seq, at } = { ...this.#next(), ...rest };
    const written = { revision: revision ?? 0, change, uid, at: at + 0.5 };
    this.records.push({ ...REQUEST, ...rest, seq, at, ...(revision !== undefined && { written }) } as RequestRecord);
    return this;
  }

  work(facts: Partial<WorkRecord>): this {
    this.records.push({ ...WORK, ...this.#next(), ...facts });
    return this;
  }

  delivery(facts: Partial<DeliveryRecord>): this {
    this.records.push({ ...DELIVERY, ...this.#next(), ...facts });
    return this;
  }

  #next() {
    return { seq: this.records.length + 1, at: this.records.length * 2 };
  }
}

/** A Deployment of two Pods comes about. */
export function rollout(): Story {
  const pods = ["web-6f7c-bcdfg", "web-6f7c-hjklm"];
  const story = new Story()
    .request({ resource: "apps/deployments", name: "web", revision: 10, authorization: "RBAC admin" })
    .request({ resource: "pods", name: "other", revision: 11 })
    .work({ id: "d1", actor: "deployment-controller", about: "default/web", woken: [10], decided: "new ReplicaSet" })
    .request({
      actor: "deployment-controller",
      resource: "apps/replicasets",
      name: "web-6f7c",
      revision: 12,
      cause: "d1",
    })
    .work({ id: "r1", actor: "replicaset-controller", about: "default/web-6f7c", woken: [12], decided: "2 more Pods" });
  for (const [index, name] of pods.entries())
    story.request({ actor: "replicaset-controller", name, revision: 13 + index, cause: "r1" });
  for (const [index, name] of pods.entries()) {
    const id = `s${index}`;
    story
      .work({ id, actor: "scheduler", about: `default/${name}`, woken: [13 + index], decided: "n1 of 3 nodes" })
      .request({
        actor: "scheduler",
        name,
        subresource: "binding",
        change: "MODIFIED",
        revision: 20 + index,
        cause: id,
      });
  }
  return story;
}
