/** Objects for tests of authentication: kept in a map, and changed at will. */
import type { KubeObject } from "#api";
import type { ClusterObjects, Plural } from "../objects.ts";

export interface TestObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export class TestObjects implements ClusterObjects {
  readonly #objects = new Map<string, KubeObject>();
  /** Writes that this server's cache does not have yet. */
  readonly #late: [string, KubeObject][] = [];
  refreshed = 0;

  put(plural: Plural, object: TestObject): this {
    this.#objects.set(keyOf(plural, object.metadata.namespace ?? "", object.metadata.name), object as KubeObject);
    return this;
  }

  putElsewhere(plural: Plural, object: TestObject): void {
    this.#late.push([keyOf(plural, object.metadata.namespace ?? "", object.metadata.name), object as KubeObject]);
  }

  remove(plural: Plural, namespace: string, name: string): this {
    this.#objects.delete(keyOf(plural, namespace, name));
    return this;
  }

  find(plural: Plural, namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(plural, namespace, name));
  }

  async refresh(): Promise<void> {
    this.refreshed++;
    for (const [key, object] of this.#late.splice(0)) this.#objects.set(key, object);
  }
}

function keyOf(plural: Plural, namespace: string, name: string): string {
  return `${plural}/${namespace}/${name}`;
}
