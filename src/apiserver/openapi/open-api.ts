/**
 * The OpenAPI documents of everything that is served: one for each group and version (v3), their index, and one of all
 * (v2).
 *
 * 1. A document is rendered on its first request, and kept until its group and version changes. The index needs the
 *    hashes of all documents, so its first reader pays for them.
 * 2. Hashes are of content: servers that serve the same have the same hashes, and clients may cache a document by its
 *    hash.
 */
import { KNOWN_VERSIONS } from "#api";
import { PreparedDocument, type ServedVersion } from "../discovery/index.ts";
import type { Descriptions } from "./descriptions.ts";

import { basePath } from "./names.ts";
import { Parameters } from "./parameters.ts";
import { protobufV2 } from "./protobuf-v2.ts";
import { besideLocal, type RemoteFragment } from "./remote-fragment.ts";
import { documentV2, type FragmentV2, fragmentV2 } from "./render-v2.ts";
import { type DocumentInfo, documentV3 } from "./render-v3.ts";
import { groupOperations, SERVER_OPERATIONS } from "./server-operations.ts";
import { TypeTexts } from "./type-texts.ts";
import { type Content, Contents } from "./version-content.ts";

export interface OpenApiOptions {
  readonly descriptions: Descriptions;
  /** Such as 1.36. */
  readonly kubernetesVersion: string;
  /** Whether CBOR is served. Default: it is not. */
  readonly cbor?: boolean | undefined;
}

interface Part {
  readonly document: PreparedDocument;
  readonly fragment: () => FragmentV2;
}

/** The documents of an extension API server for a version that it serves. */
export interface RemoteDocuments {
  /** Of its v3 document: a path of this server, with or without a hash. Requests for it are proxied. */
  readonly url?: string | undefined;
  readonly fragment?: RemoteFragment | undefined;
}

export class OpenApi {
  readonly #info: DocumentInfo;
  readonly #contents: Contents;
  readonly #texts: { readonly v2: TypeTexts; readonly v3: TypeTexts };
  /** By the name in the index: `api/v1`, `apis/apps`, `version`. */
  readonly #parts = new Map<string, Part>();
  /** The same, for extension API servers. */
  readonly #remote = new Map<string, RemoteDocuments>();
  /** The versions of each group: the group's own document is removed with the last of them. */
  readonly #versions = new Map<string, Set<string>>();
  #index: PreparedDocument | undefined;
  #v2: PreparedDocument | undefined;
  #v2Protobuf: PreparedDocument | undefined;

  constructor({ descriptions, kubernetesVersion, cbor = false }: OpenApiOptions) {
    this.#info = { title: "Kubernetes", version: kubernetesVersion };
    this.#contents = new Contents(new Parameters(descriptions), cbor);
    this.#texts = { v2: new TypeTexts("v2", descriptions), v3: new TypeTexts("v3", descriptions) };
    for (const [name, operations] of SERVER_OPERATIONS) {
      this.#parts.set(
        name,
        this.#part(() => this.#contents.ofServer(operations), { group: "", version: "v1" }),
      );
    }
  }

  /** Adds or replaces a version. Versions of extension API servers are left to `setRemote`. */
  set(...versions: readonly ServedVersion[]): void {
    for (const served of versions) {
      if (served.remote !== undefined) continue;
      const { group, version, custom = false } = served;
      this.#parts.set(
        nameOf(group, version),
        this.#part(() => this.#contents.ofVersion(served), served),
      );
      const known = this.#versions.get(group) ?? new Set();
      this.#versions.set(group, known.add(version));
      if (custom || group === "") continue;
      this.#parts.set(
        `apis/${group}`,
        this.#part(() => this.#contents.ofServer(groupOperations(group)), served),
      );
    }
    this.#changed();
  }

  setRemote(group: string, version: string, documents: RemoteDocuments): void {
    const { url, fragment } = this.#remote.get(nameOf(group, version)) ?? {};
    if (url === documents.url && fragment === documents.fragment) return;
    this.#remote.set(nameOf(group, version), documents);
    this.#changed();
  }

  remove(group: string, version: string): void {
    this.#parts.delete(nameOf(group, version));
    this.#remote.delete(nameOf(group, version));
    const left = this.#versions.get(group);
    left?.delete(version);
    if (left?.size === 0) {
      this.#versions.delete(group);
      this.#parts.delete(`apis/${group}`);
    }
    this.#changed();
  }

  /** The paths of the documents below /openapi/v3/, sorted. An idle server may compute their hashes ahead of time. */
  get pathsV3(): string[] {
    return [...this.#parts.keys()].sort();
  }

  /** `path`: one of `pathsV3`. */
  documentV3(path: string): PreparedDocument | undefined {
    return this.#parts.get(path)?.document;
  }

  /** Whether that document belongs to an extension API server. */
  isRemoteV3(path: string): boolean {
    return this.#remote.get(path)?.url !== undefined;
  }

  get indexV3(): PreparedDocument {
    this.#index ??= new PreparedDocument("", () => {
      const own = [...this.#parts].map(([path, { document }]) => [path, serverRelativeUrl(path, document)] as const);
      const others = [...this.#remote].flatMap(([path, { url }]) => (url === undefined ? [] : [[path, url] as const]));
      const all = [...own, ...others].sort(([a], [b]) => (a < b ? -1 : 1));
      return { paths: Object.fromEntries(all.map(([path, url]) => [path, { serverRelativeURL: url }])) };
    });
    return this.#index;
  }

  get documentV2(): PreparedDocument {
    this.#v2 ??= new PreparedDocument("", () => {
      const own = this.#sorted().map(([, { fragment }]) => fragment());
      const others = [...this.#remote.values()].flatMap(({ fragment }) => fragment ?? []);
      return documentV2(this.#info, others.length === 0 ? own : [...own, ...besideLocal(own, others)]);
    });
    return this.#v2;
  }

  get documentV2Protobuf(): PreparedDocument {
    this.#v2Protobuf ??= new PreparedDocument("", () => protobufV2(this.documentV2.value()));
    return this.#v2Protobuf;
  }

  #part(content: () => Content, home: { readonly group: string; readonly version: string }): Part {
    const core = { group: "", version: "v1" };
    const shared = home.group === "" ? [core] : [core, home];
    return {
      document: new PreparedDocument("", () => {
        const { paths, types } = content();
        return documentV3(this.#info, paths, types(this.#texts.v3, shared));
      }),
      fragment: once(() => {
        const { paths, types } = content();
        return fragmentV2(paths, types(this.#texts.v2, KNOWN_VERSIONS));
      }),
    };
  }

  #sorted(): [string, Part][] {
    return [...this.#parts].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #changed(): void {
    this.#index = undefined;
    this.#v2 = undefined;
    this.#v2Protobuf = undefined;
  }
}

/** The URL in the index: it always means these bytes. */
export function serverRelativeUrl(path: string, document: PreparedDocument): string {
  return `/openapi/v3/${path}?hash=${document.hash}`;
}

function nameOf(group: string, version: string): string {
  return basePath(group, version).slice(1);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
