/** What all operations on one kind share: names, tags, content types, path parameters. */
import type { Kind } from "#api";
import { basePath, tagOf, titleOf } from "./names.ts";
import { type GroupVersionKind, type Operation, type Parameter, sortParameters } from "./operation.ts";
import type { Parameters } from "./parameters.ts";

export const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ENCODINGS = ["application/json", "application/yaml"];
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const CBOR = "application/cbor";
const CBOR_SEQUENCE = "application/cbor-seq";
const STREAMS = ["application/json;stream=watch", `${PROTOBUF};stream=watch`];

export interface KindTypes {
  /** The full names of the kind's type and of its list's. */
  readonly typeName: string;
  readonly listTypeName: string;
  /** Custom kinds speak neither protobuf nor strategic merge patch, and have no /watch/ paths. */
  readonly custom: boolean;
  /** Whether CBOR is served. */
  readonly cbor: boolean;
}

/** The subject of an operation: the object itself, or one of its subresources with its own kind. */
export interface Subject extends GroupVersionKind {
  readonly typeName: string;
  /** The subresource's name. */
  readonly part?: string;
}

type Details = Pick<Operation, "method" | "action" | "description" | "responses"> &
  Partial<Pick<Operation, "body" | "consumes" | "produces">>;

export class OperationMaker {
  readonly kind: Kind;
  readonly types: KindTypes;
  readonly parameters: Parameters;
  /** Content types of responses, and of responses that may be watch streams. */
  readonly produces: readonly string[];
  readonly streams: readonly string[];
  /** `Namespaced` in the names of operations on namespaced kinds, else empty. */
  readonly inNamespace: string;
  /** The path parameter; none for cluster-scoped kinds. */
  readonly namespace: readonly Parameter[];
  /** /apis/apps/v1 */
  readonly base: string;
  /** /namespaces/{namespace}/deployments */
  readonly home: string;

  constructor(kind: Kind, types: KindTypes, parameters: Parameters) {
    const namespaced = kind.scope === "Namespaced";
    this.kind = kind;
    this.types = types;
    this.parameters = parameters;
    const cbor = types.cbor ? [CBOR] : [];
    this.produces = types.custom ? [...ENCODINGS, ...cbor] : [...ENCODINGS, PROTOBUF, ...cbor];
    const streams = types.cbor ? [...STREAMS, CBOR_SEQUENCE] : STREAMS;
    this.streams = types.custom ? this.produces : [...this.produces, ...streams];
    this.inNamespace = namespaced ? "Namespaced" : "";
    this.namespace = namespaced ? [parameters.namespace] : [];
    this.base = basePath(kind.group, kind.version);
    this.home = `${namespaced ? "/namespaces/{namespace}" : ""}/${kind.names.plural}`;
  }

  /** `verb` and `name`: the operation's id around the group and version, as in create|AppsV1|NamespacedDeployment. */
  make(
    verb: string,
    name: string,
    about: GroupVersionKind,
    parameters: readonly Parameter[],
    details: Details,
  ): Operation {
    const { group, version } = this.kind;
    return {
      id: verb + titleOf(group, version) + name,
      tag: tagOf(group, version),
      gvk: { group: about.group, version: about.version, kind: about.kind },
      parameters: sortParameters(parameters),
      consumes: ["*/*"],
      produces: this.produces,
      ...details,
    };
  }
}
