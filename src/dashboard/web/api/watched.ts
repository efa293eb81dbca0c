/**
 * A list kept current by a watch, as a pure state machine: pages and events in, the next action out. No network here.
 *
 *     listing ── page, page, last page ──► watching ── event, event, … ──► watching
 *        ▲                                    │
 *        └──────── 410 Gone ──────────────────┘        the old list stays visible until the new one is complete
 */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: unknown;
  };
}

export interface Page<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[];
}

export interface WatchEvent<T> {
  readonly type: string;
  readonly object: T;
}

export type Next =
  | { readonly do: "list"; readonly continue: string }
  | { readonly do: "watch"; readonly resourceVersion: string };

export class Watched<T extends KubeObject> {
  /** The visible objects, by namespace and name. */
  objects = new Map<string, T>();
  next: Next = { do: "list", continue: "" };
  #listing = new Map<string, T>();

  page({ metadata, items = [] }: Page<T>): void {
    for (const item of items) this.#listing.set(keyOf(item), lighter(item));
    if (metadata.continue) {
      this.next = { do: "list", continue: metadata.continue };
      // The first list is shown as it grows.
      if (this.objects.size === 0 || this.objects === this.#listing) this.objects = this.#listing;
      return;
    }
    this.objects = this.#listing;
    this.#listing = new Map();
    this.next = { do: "watch", resourceVersion: metadata.resourceVersion ?? "0" };
  }

  /** Whether the visible objects have changed. */
  event({ type, object }: WatchEvent<T>): boolean {
    if (type === "ERROR") {
      this.relist();
      return false;
    }
    const resourceVersion = object.metadata.resourceVersion;
    if (resourceVersion !== undefined) this.next = { do: "watch", resourceVersion };
    if (type === "BOOKMARK") return false;
    if (type === "DELETED") return this.objects.delete(keyOf(object));
    this.objects.set(keyOf(object), lighter(object));
    return true;
  }

  /** A list that becomes forbidden is cleared. */
  clear(): void {
    this.objects = new Map();
    this.relist();
  }

  relist(): void {
    this.#listing = new Map();
    this.next = { do: "list", continue: "" };
  }
}

export function keyOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

/** managedFields are half of an object's size, and are fetched only where needed. */
function lighter<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}
