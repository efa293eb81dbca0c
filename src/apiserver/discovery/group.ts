/** One API group: its versions in order, and their rendered documents. */
import { PreparedDocument } from "./prepared-document.ts";
import { compareVersions } from "./priority.ts";
import { apiResources, versionDiscovery } from "./resources.ts";
import type { ServedVersion } from "./served-version.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

export class Group {
  readonly name: string;
  #versions: readonly ServedVersion[] = [];
  #document: PreparedDocument | undefined;
  readonly #resources = new Map<string, PreparedDocument>();
  readonly #fragments = new Map<string, string>();
  #aggregated: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get versions(): readonly ServedVersion[] {
    return this.#versions;
  }

  set(served: ServedVersion): void {
    const others = this.versions.filter(({ version }) => version !== served.version);
    this.#changed(served.version, [...others, served].sort(compareVersions));
    if (served.remote === undefined) this.#resources.set(served.version, resourceList(served));
  }

  remove(version: string): "empty" | "left" {
    this.#changed(
      version,
      this.versions.filter((it) => it.version !== version),
    );
    return this.versions.length === 0 ? "empty" : "left";
  }

  /** What /apis/<group> answers. */
  get document(): PreparedDocument {
    this.#document ??= new PreparedDocument(`${META}.APIGroup`, () => ({
      kind: "APIGroup",
      apiVersion: "v1",
      ...this.#names(),
    }));
    return this.#document;
  }

  resources(version: string): PreparedDocument | undefined {
    return this.#resources.get(version);
  }

  /** As an item of the aggregated list. */
  get aggregated(): string {
    const metadata = this.name === "" ? {} : { name: this.name };
    this.#aggregated ??= `{"metadata":${JSON.stringify(metadata)},"versions":[${this.versions
      .map((served) => this.#fragment(served))
      .join()}]}`;
    return this.#aggregated;
  }

  /** As an item of an APIGroupList. */
  get listed(): string {
    return JSON.stringify(this.#names());
  }

  #fragment(served: ServedVersion): string {
    const found = this.#fragments.get(served.version) ?? JSON.stringify(versionDiscovery(served));
    this.#fragments.set(served.version, found);
    return found;
  }

  #changed(version: string, versions: readonly ServedVersion[]): void {
    this.#versions = versions;
    this.#resources.delete(version);
    this.#fragments.delete(version);
    this.#aggregated = undefined;
    this.#document = undefined;
  }

  #names() {
    const versions = this.versions.map(({ version }) => ({ groupVersion: `${this.name}/${version}`, version }));
    const [preferredVersion = { groupVersion: "", version: "" }] = versions;
    return { name: this.name, versions, preferredVersion };
  }
}

/** The core group is older than the apiVersion of such lists. */
function resourceList({ group, version, kinds, keptIn }: ServedVersion): PreparedDocument {
  return new PreparedDocument(`${META}.APIResourceList`, () => ({
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: kinds.flatMap((kind) => apiResources(kind, keptIn?.get(kind.kind))),
  }));
}
