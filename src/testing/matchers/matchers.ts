/**
 * `toEventually`, for vitest and jest: `expect.extend(matchers)`, then
 *
 *     await expect(cluster.object(kinds.Deployment, "web")).toEventually(beReady());
 *
 * Time of the object's cluster moves until the condition holds. On failure, the message has the object's status, why it
 * is in this state, and the flow that led there. Runners without `expect` call `eventually`.
 */
import { isStatusError, type KubeObject } from "#api";
import type { ResourceName } from "#client";
import type { TestCluster } from "../cluster/cluster.ts";
import { type Limits, NeverHappened } from "../cluster/eventually.ts";
import type { Condition } from "./conditions.ts";

/** An object of a cluster, whether or not it exists. */
export class ObjectOf<T extends KubeObject = KubeObject> {
  readonly cluster: TestCluster;
  readonly resource: ResourceName;
  readonly name: string;
  readonly namespace: string | undefined;

  constructor(cluster: TestCluster, resource: ResourceName, name: string, namespace = "default") {
    this.cluster = cluster;
    this.resource = resource;
    this.name = name;
    this.namespace = resource.namespaced ? namespace : undefined;
  }

  /** Undefined if it does not exist. */
  async get(): Promise<T | undefined> {
    const all = this.cluster.client.of<KubeObject>(this.resource);
    const own = this.namespace === undefined ? all : all.in(this.namespace);
    try {
      return (await own.get(this.name)) as T;
    } catch (error) {
      if (isStatusError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  toString(): string {
    return `${this.resource.kind} ${this.namespace === undefined ? "" : `${this.namespace}/`}${this.name}`;
  }
}

interface Result {
  readonly pass: boolean;
  message(): string;
}

export interface ClusterMatchers<R = unknown> {
  /** Moves time until the condition holds. */
  toEventually(condition: Condition, limits?: Limits): Promise<R>;
}

export const matchers = {
  async toEventually(received: unknown, condition: Condition, limits: Limits = {}): Promise<Result> {
    if (!(received instanceof ObjectOf))
      return { pass: false, message: () => "toEventually expects an object of a cluster: cluster.object(kind, name)" };
    try {
      await eventually(received, condition, limits);
    } catch (error) {
      if (!(error instanceof NeverHappened)) throw error;
      return { pass: false, message: () => error.message };
    }
    return { pass: true, message: () => `expected ${received} not ${condition.words}, but it came to it` };
  },
};

/** The object when the condition holds; throws with an explanation if it never does. */
export async function eventually<T extends KubeObject>(
  object: ObjectOf<T>,
  condition: Condition,
  limits: Limits = {},
): Promise<T | undefined> {
  const { cluster, resource } = object;
  const what = `expected ${object} ${condition.words}: that`;
  let last: T | undefined;
  const read = async () => {
    last = await object.get();
    return condition.holds(last);
  };
  try {
    await cluster.eventually(read, { what, ...limits });
    return last;
  } catch (error) {
    if (!(error instanceof NeverHappened)) throw error;
    // Loaded only here: most tests pass.
    const { explanationOf } = await import("./explain.ts");
    const explanation = await explanationOf(cluster.explained(), resource, object, last);
    throw new NeverHappened(`${error.message}\n\n${explanation}`, { cause: error });
  }
}
