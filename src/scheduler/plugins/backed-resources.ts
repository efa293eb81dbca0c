/**
 * Extended resources that classes of devices stand for: a node without such a resource may provide it by devices.
 *
 * 1. A class names a resource itself, or is asked for as deviceclass.resource.kubernetes.io/NAME. Of several classes
 *    with one resource the youngest counts, then the first by name.
 */
import { kinds, type resource } from "#api";
import type { Informers } from "#client";

const IMPLICIT = "deviceclass.resource.kubernetes.io/";

export class BackedResources {
  readonly #class: (name: string) => resource.DeviceClass | undefined;
  #named: ReadonlyMap<string, resource.DeviceClass> = new Map();
  #epoch = 0;

  /** `isOn`: the gate DRAExtendedResource; without it there are no such resources. */
  constructor(informers: Informers, isOn: boolean) {
    if (!isOn) {
      this.#class = () => undefined;
      return;
    }
    const classes = informers.of(kinds.DeviceClass);
    this.#class = (name) => classes.cache.get(name);
    classes.onChange(() => {
      this.#epoch += 1;
      this.#named = classesByResource(classes.cache.list());
    });
  }

  /** Changes with the classes. */
  get epoch(): number {
    return this.#epoch;
  }

  classFor(name: string): resource.DeviceClass | undefined {
    if (!name.includes("/")) return undefined;
    const implicit = implicitClass(name);
    return this.#named.get(name) ?? (implicit === undefined ? undefined : this.#class(implicit));
  }
}

/** The classes that name a resource themselves. */
export function classesByResource(classes: Iterable<resource.DeviceClass>): ReadonlyMap<string, resource.DeviceClass> {
  const named = new Map<string, resource.DeviceClass>();
  for (const each of [...classes].sort(youngestLast)) {
    const { extendedResourceName } = each.spec;
    if (extendedResourceName !== undefined) named.set(extendedResourceName, each);
  }
  return named;
}

/** The name of the class that a resource stands for by its own name. */
export function implicitClass(resourceName: string): string | undefined {
  return resourceName.startsWith(IMPLICIT) ? resourceName.slice(IMPLICIT.length) : undefined;
}

function youngestLast({ metadata: a }: resource.DeviceClass, { metadata: b }: resource.DeviceClass): number {
  const [first = "", second = ""] = [a.creationTimestamp, b.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return (a.name ?? "") < (b.name ?? "") ? 1 : -1;
}
